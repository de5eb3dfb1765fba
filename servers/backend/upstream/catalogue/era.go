package catalogue

// eraPin is the era of the protocol that a version of the server spoke.
type eraPin struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Era is the era that the server spoke when it was last asked, "" if unknown.
func (p *Pins) Era() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.load()
	return p.file.Era.Name, err
}

// Spoke stores the era that a version of the server spoke; asked is false if it was not
// asked but greeted in the stored era. Then a version other than the stored one may speak
// a newer era, so the stored one is dropped.
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
