package clippy

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

const toneRate = 22050 // samples a second

// pitches are the notes of each sound in Hz, played one after the other.
func pitches(sound string) []float64 {
	switch sound {
	case "error":
		return []float64{311, 233}
	case "warning":
		return []float64{440, 440}
	}
	return []float64{523, 784}
}

// tone is a sound of the deck's own for machines that have none: two soft notes
// in a 16-bit mono WAV file, 0.36 s long.
func tone(sound string) []byte {
	const note = toneRate * 18 / 100
	var samples []int16
	for _, hz := range pitches(sound) {
		for i := range note {
			t := float64(i) / toneRate
			fade := math.Min(1, float64(i)/200) * math.Exp(-12*t) // no click at the start
			v := math.Sin(2*math.Pi*hz*t) + 0.3*math.Sin(4*math.Pi*hz*t)
			samples = append(samples, int16(9000*fade*v))
		}
	}
	size := uint32(2 * len(samples))
	var b bytes.Buffer
	for _, part := range []any{
		[]byte("RIFF"), 36 + size, []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1),
		uint32(toneRate), uint32(2 * toneRate), uint16(2), uint16(16), []byte("data"), size, samples,
	} {
		_ = binary.Write(&b, binary.LittleEndian, part) // a Buffer takes everything
	}
	return b.Bytes()
}

// toneFile returns the path of the sound's tone in dir, writing it first if it
// is not there.
func toneFile(dir, sound string) (string, error) {
	name := filepath.Join(dir, "tone-"+sound+".wav")
	want := tone(sound)
	if have, err := file.ReadPlain(name, false, 1<<20); err == nil && bytes.Equal(have, want) {
		return name, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return name, file.Write(name, want, file.Options{})
}
