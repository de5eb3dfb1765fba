package catalogue

// eraPin is which era of the protocol a version of the server spoke.
type eraPin struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Era is what the server spoke when it was last asked, "" when that is not known.
func (p *Pins) Era() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.load()
	return p.file.Era.Name, err
}

// Spoke keeps what era a version of the server spoke; asked tells whether it was asked
// for that. A version that was greeted in the era of another may speak a newer one, so
// the era is forgotten.
func (p *Pins) Spoke(era, version string, asked bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.load(); err != nil {
		return err
	}
	now := eraPin{era, version}
	if !asked && now != p.file.Era {
		now = eraPin{}
	}
	if now == p.file.Era {
		return nil
	}
	p.file.Era = now
	return p.save()
}
