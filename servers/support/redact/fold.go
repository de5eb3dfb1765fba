package redact

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold spells with ASCII letters and signs what only looks like them: letters of full
// width, of mathematics, in circles, and those of other alphabets within a word of this
// one.
func fold(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	done := 0 // what is in b of s
	for i, r := range s {
		if r < utf8.RuneSelf {
			continue
		}
		like := ""
		if hasForms(r) {
			if d := norm.NFKC.PropertiesString(s[i:]).Decomposition(); isASCII(string(d)) {
				like = string(d)
			}
		} else if l := lookAlike(r); l != 0 && besideLetter(s, i, utf8.RuneLen(r)) {
			like = string(rune(l))
		}
		if like != "" {
			b.WriteString(s[done:i])
			b.WriteString(like)
			done = i + utf8.RuneLen(r)
		}
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// hasForms reports whether r is in a block with other forms of ASCII letters and signs.
func hasForms(r rune) bool {
	switch {
	case r == 'ſ', r >= 0x1d2c && r <= 0x1d6a, r >= 0x2070 && r <= 0x209c, r >= 0x2102 && r <= 0x2149, r >= 0x2460 && r <= 0x24ff,
		r >= 0xfb00 && r <= 0xfb06, r >= 0xfe50 && r <= 0xfe6b, r >= 0xff01 && r <= 0xff5e, r >= 0x1d400 && r <= 0x1d7ff:
		return true
	}
	return false
}

// lookAlike is the ASCII letter that a letter of another alphabet is drawn as, 0 for none.
func lookAlike(r rune) byte {
	const others, ours = "аеорсухіѕјӏԁԛԝһкАВЕКМНОРСТУХІЅЈαοεικνρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxisjldqwhkABEKMHOPCTYXISJaoeiknptuxABEZHIKMNOPTYX"
	if r < 0x391 || r > 0x51d {
		return 0
	}
	n := 0
	for _, o := range others {
		if o == r {
			return ours[n]
		}
		n++
	}
	return 0
}

// besideLetter reports whether the sign at a place has an ASCII letter beside it.
func besideLetter(s string, at, size int) bool {
	return at > 0 && isLetter(s[at-1]) || at+size < len(s) && isLetter(s[at+size])
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isForeign reports whether a name that is not of ASCII letters alone has a word for
// password of another language in it.
func isForeign(joined string) bool {
	for _, word := range [...]string{
		"contraseñ", "hasło", "lösenord", "jelszó", "şifre", "парол", "лозинк", "κωδικό", "συνθηματικ", "mậtkhẩu", "密码", "密碼", "口令",
		"パスワード", "暗証番号", "비밀번호", "암호", "סיסמ", "كلمةالمرور", "كلمةالسر", "पासवर्ड", "รหัสผ่าน", "slaptažod",
	} {
		if strings.Contains(joined, word) {
			return true
		}
	}
	return false
}

// stems are three letters that each name of a secret has in it, by their place in the
// alphabet: most names have none of them, and need no closer look.
var stems = sync.OnceValue(func() *[26*26*26/64 + 1]uint64 {
	var set [26*26*26/64 + 1]uint64
	for w := range strings.FieldsSeq("pas seed sec key cred auth cook bear onn mnem pin reco back otp jwt pat pwd web tok idr ide url uri dsn sig " +
		"mot kenn mdp senha wacht haslo heslo losen adg sala jels sifre parol lozi gesl paro matk dbp") {
		n := (int(w[0]-'a')*26+int(w[1]-'a'))*26 + int(w[2]-'a')
		set[n/64] |= 1 << (n % 64)
	}
	return &set
})

// mayBeSecret reports whether a name can be that of a secret at all, or a text has one.
func mayBeSecret(name string) bool {
	set := stems()
	n, letters := 0, 0
	for i := range len(name) {
		b := name[i]
		switch l := b | 0x20 - 'a'; {
		case b >= utf8.RuneSelf:
			return true
		case l < 26:
			n = n%(26*26)*26 + int(l)
			letters++
		case b >= '0' && b <= '9':
			letters = 0
			continue
		default:
			continue
		}
		if letters >= 3 && set[n/64]&(1<<(n%64)) != 0 || letters >= 2 && n%(26*26) == ('p'-'a')*26+'w'-'a' {
			return true
		}
	}
	return false
}
