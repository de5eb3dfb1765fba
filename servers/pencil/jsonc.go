package pencil

import "bytes"

// plainJSON takes comments and trailing commas out of JSON, as editors allow
// them in their settings. What is inside strings stays.
func plainJSON(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	comma := -1 // index in out of a comma with nothing behind it yet
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '"':
			end := stringEnd(raw, i)
			out = append(out, raw[i:end]...)
			i = end - 1
			comma = -1
		case c == '/' && i+1 < len(raw) && raw[i+1] == '/':
			for i < len(raw) && raw[i] != '\n' {
				i++
			}
			i--
		case c == '/' && i+1 < len(raw) && raw[i+1] == '*':
			end := bytes.Index(raw[i+2:], []byte("*/"))
			if end < 0 {
				return out
			}
			i += 2 + end + 1
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			out = append(out, c)
		default:
			if (c == '}' || c == ']') && comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
			if c == ',' {
				comma = len(out)
			}
			out = append(out, c)
		}
	}
	return out
}

// stringEnd is the index behind the string that starts at i, len(raw) when it
// does not end.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}
