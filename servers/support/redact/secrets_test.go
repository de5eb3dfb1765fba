package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// hush is the secret of every row: what is left of it after redaction fails the row.
const hush = "q7Rk2vTz9Lw4"

func TestSecretsAreFoundByName(t *testing.T) {
	tests := []struct{ name, in string }{
		{"database password", `{"db_pass":"HUSH"}`},
		{"database password, joined", `{"dbPass":"HUSH","DBPASSWORD":"HUSH"}`},
		{"JSON web token", `{"jwt":"HUSH","session_jwt":"HUSH"}`},
		{"signing key", `{"signing_key":"HUSH","signingKey":"HUSH","SIGNING-KEY":"HUSH"}`},
		{"ssh key", `{"ssh_key":"HUSH","sshPrivateKey":"HUSH","deploy_key":"HUSH","ENCRYPTION_KEY":"HUSH","sshkey":"HUSH","id_rsa":"HUSH"}`},
		{"address of a database", `{"database_url":"HUSH","DATABASE_URL":"HUSH","redisUrl":"HUSH","dsn":"HUSH","connectionString":"HUSH"}`},
		{"credentials", `{"creds":"HUSH","gcp_credentials":{"x":"HUSH"},"pat":"HUSH","webhook_url":"HUSH"}`},
		{"one-time code", `{"otp":"HUSH","totp_seed":"HUSH","mnemonic":"HUSH","recovery_codes":["HUSH"]}`},
		{"a number", `{"pin_code":7242,"otp":7242}`},
		{"pair, name first", `{"env":[{"name":"DB_PASSWORD","value":"HUSH"}]}`},
		{"pair, value first", `{"value":"HUSH","name":"password"}`},
		{"pair, other words", `{"headers":[{"key":"X-Api-Key","content":"HUSH"},{"field":"jwt","text":"HUSH"}]}`},
		{"pair, the answer to a question", `{"results":[{"id":"db_password","customInput":"HUSH"}]}`},
		{"pair, an object as value", `{"name":"secret","value":{"a":["HUSH"]}}`},
		{"pair, a list of two", `{"headers":[["X-Auth-Token","HUSH"]]}`},
		{"argument after its flag", `{"args":["login","--password","HUSH"]}`},
		{"in JSON in a text", `{"text":"{\"name\":\"password\",\"value\":\"HUSH\"}"}`},
		{"assignment in a command", `{"command":"DB_PASS=HUSH ./run && export API_KEY='HUSH'"}`},
		{"flag in a command", `{"command":"tool --password HUSH --api-key=HUSH"}`},
		{"user and password of curl", `{"command":"curl -u ada:HUSH https://example.com"}`},
		{"line of YAML", `{"text":"user: ada\n  password: HUSH\nport: 1"}`},
		{"line of TOML", `{"text":"[db]\nsecret_key = \"HUSH\"\n"}`},
		{"parameter of an address", `{"url":"https://example.com/x?access_token=HUSH&a=1"}`},
		{"a key in an address", `{"url":"https://example.com/x?v=2&key=HUSH","text":"GET https://example.com/x?sig=HUSH: 403"}`},
		{"JSON that is cut", `{"text":"{\"password\": \"HUSH\", \"a\": "}`},
		{"JSON in a text in a text", `{"text":"{\"a\":\"{\\\"name\\\":\\\"password\\\",\\\"value\\\":\\\"HUSH\\\"}\"}"}`},
		{"JSON quoted three times", `{"text":"\"\\\"{\\\\\\\"password\\\\\\\":\\\\\\\"HUSH\\\\\\\"}\\\"\""}`},
		{"a list of headers", `{"headers":["Accept","x","X-Api-Key","HUSH"],"rawHeaders":["Authorization","HUSH"]}`},
		{"a header with quotes in it", `{"text":"Authorization: Digest username=\"ada\", response=\"HUSH\"\nAccept: x"}`},
		{"a header in quotes", `{"command":"curl -H 'Authorization: Digest username=\"ada\", response=\"HUSH\"' x"}`},
		{"tabs around the sign", `{"text":"password\t=\tHUSH"}`},
		{"an element of XML", `{"text":"<db><password>HUSH</password></db>"}`},
		{"names with a number or a stage", `{"pass1":"HUSH","password_2":"HUSH","TOKEN_PROD":"HUSH","access_token_v2":"HUSH","SLACK_TOKEN_2":"HUSH","api_key_dev":"HUSH"}`},
		{"other words", `{"pw":"HUSH","db_pw":"HUSH","passwort":"HUSH","seed_phrase":"HUSH","seedPhrase":"HUSH"}`},
		{"pair, short words", `{"list":[{"k":"password","v":"HUSH"},{"type":"password","value":"HUSH"}]}`},
		{"option of sshpass", `{"command":"sshpass -p HUSH ssh x && sshpass -p'HUSH' ssh y"}`},
		{"option of mysql", `{"command":"mysql -pHUSH db; mysqldump -u root -pHUSH db | mariadb -p'HUSH'"}`},
		{"options of other programs", `{"a":"docker login -u x -p HUSH reg","b":"redis-cli -h x -a HUSH ping","c":"mongosh -u x -p HUSH","d":"smbclient -U ada%HUSH //x","e":"ldapsearch -x -w HUSH","f":"unzip -P HUSH a.zip","g":"7z x -pHUSH a.7z","h":"openssl enc -aes256 -k HUSH","i":"helm registry login -p HUSH x","j":"sqlcmd -U sa -P HUSH"}`},
		{"curl, all spellings", `{"a":"curl -uada:HUSH x","b":"curl -s --user 'ada:HUSH' x","c":"curl x --proxy-user=ada:HUSH"}`},
		{"a long option", `{"a":"tool --password HUSH","b":"tool --passwd=HUSH --db-pass \"HUSH\""}`},
		{"a command as a list", `{"args":["sshpass","-p","HUSH","ssh"],"argv":["/usr/bin/mysql","-u","x","-pHUSH"],"l":["curl","-u","ada:HUSH","x"],"m":["docker","login","-p","HUSH"]}`},
		{"header", `{"command":"curl -H 'X-Api-Key: HUSH' -H \"Cookie: a=1; b=HUSH\""}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := strings.ReplaceAll(tt.in, "HUSH", hush)
			got := string(Rules{}.Body(Kind{}, false, json.RawMessage(in)))
			if strings.Contains(got, hush) || strings.Contains(got, "7242") || !json.Valid([]byte(got)) {
				t.Errorf("kept %s", got)
			}
		})
	}
}

func TestSecretsAreFoundByShape(t *testing.T) {
	key := "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC" + hush
	tests := []struct{ name, secret, in string }{
		{"bearer", hush, "Authorization: Bearer " + hush},
		{"bearer alone", hush, "bearer " + hush},
		{"basic", "YWRhOmh1c2hodXNo", "Basic YWRhOmh1c2hodXNo"},
		{"GitHub", "ghp_0123456789abcdefghijklmnopqrstuvwxyz", "push with ghp_0123456789abcdefghijklmnopqrstuvwxyz please"},
		{"GitHub, fine-grained", "github_pat_11ABCDEFG0abcdefghijkl_", "github_pat_11ABCDEFG0abcdefghijkl_" + strings.Repeat("aB3", 20)},
		{"OpenAI", "sk-proj-abcdefghijklmnop", "sk-proj-abcdefghijklmnopQRSTUV0123456789"},
		{"a short sk-", "sk-abcdefghijklmnop0123", "sk-abcdefghijklmnop0123"},
		{"a very short sk-", "sk-abc123def456", "sk-abc123def456"},
		{"user, password and a host in a word", "hush@", "user:hush@host"},
		{"Anthropic", "sk-ant-api03-" + strings.Repeat("x", 93), "sk-ant-api03-" + strings.Repeat("x", 93) + "AA"},
		{"AWS", "AKIAQ3EGRZ7QIPBFTWLM", "id AKIAQ3EGRZ7QIPBFTWLM."},
		{"Slack", "xoxb-123456789012-123456789012-", "xoxb-123456789012-123456789012-abcdefghijklmnopqrstuvwx"},
		{"Google", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY", "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"},
		{"JSON web token", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"},
		{"signed address", strings.Repeat(hush, 4), "https://example.com/x?sv=1&sig=" + strings.Repeat(hush, 4) + "&se=2"},
		{"signed address of Amazon", strings.Repeat("0f3a", 16), "https://s3.example.com/x?X-Amz-Signature=" + strings.Repeat("0f3a", 16)},
		{"signed address with escapes", hush, "https://example.com/x?sig=" + strings.Repeat("%2F"+hush, 3) + "%3D"},
		{"private key", key, "-----BEGIN RSA PRIVATE KEY-----\n" + key + "\n-----END RSA PRIVATE KEY-----\n"},
		{"private key without its end", key, "-----BEGIN OPENSSH PRIVATE KEY-----\n" + key},
		{"private key on one line", key, `-----BEGIN PRIVATE KEY-----\n` + key + `\n-----END PRIVATE KEY-----`},
		{"password in an address", hush, "postgres://ada:" + hush + "@db.example.com:5432/x"},
		{"password with an @ in an address", hush, "https://ada:a@" + hush + "@example.com/x"},
		{"user, password and host", hush, "ada:" + hush + "@db.internal:5432"},
		{"token as user of an address", hush + hush, "https://" + hush + hush + "@example.com/x.git"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, in := range []string{tt.in, "see " + tt.in + " there", strings.Repeat("some words; ", 300) + tt.in} {
				body, err := json.Marshal(map[string]any{"note": in, "list": []string{in}})
				if err != nil {
					t.Fatal(err)
				}
				got := string(Rules{}.Body(Kind{}, true, body))
				if strings.Contains(got, tt.secret) || !json.Valid([]byte(got)) {
					t.Fatalf("kept %.200s", got)
				}
				if strings.Contains(Rules{}.Text(in), tt.secret) {
					t.Fatalf("Text kept %.200s", Rules{}.Text(in))
				}
			}
		})
	}
}

func TestWhatIsNoSecretIsKept(t *testing.T) {
	tests := []struct {
		name string
		kind Kind
		in   string
	}{
		{"pixel art", Kind{Colours: true}, `{"token":"skin","tokens":[{"token":"eye"}],"text":"{\"token\":\"skin\",\"token=eye\":1}"}`},
		{"rules of pixel art", Kind{Colours: true}, `{"source":"{selector: \"[token=glow]\", token: \"lamp\"}\ntoken: glow1"}`},
		{"tokens that are called like secrets", Kind{Colours: true}, `{"source":"{\"colors\":{\"{cookie}\":\"#a52\"},\"regions\":{\"cookie\":{\"rect\":[0,0,4,4]},\"secret\":{\"points\":[[1,1]],\"z\":2}}}"}`},
		{"colours", Kind{}, `{"password":"#fff","text":"cookie: #a52a2a1f","auth":"rgb(1, 2, 3)"}`},
		{"types", Kind{}, `{"props":{"token":"string | undefined","onAuth":"() => void","password":{"type":"string | null"},"auth":"'on' | 'off'"}}`},
		{"modes of a fetch", Kind{}, `{"credentials":"include","fetch":{"credentials":"same-origin"}}`},
		{"names of keys", Kind{}, `{"key":"colour","public_key":"ssh-ed25519 AAAA","primaryKey":"id","sort_key":"name","keyboard":"de","monkey":"x"}`},
		{"counts", Kind{}, `{"max_tokens":5,"token_count":7,"tokens":12,"progressToken":"p","nextPageToken":"p2","pass":12,"password_length":8}`},
		{"words with a secret in them", Kind{}, `{"author":"ada","compass":"n","bypass":"yes","secretary":"bo","tokenizer":"bpe","passenger":"cy","path":"/x"}`},
		{"a schema", Kind{}, `{"properties":{"password":{"type":"string"}},"required":["password","user"]}`},
		{"a switch", Kind{}, `{"has_password":true,"token":null,"password":""}`},
		{"a reference", Kind{}, `{"env":{"API_KEY":"${API_KEY}","TOKEN":"<token>"},"command":"curl -H \"X-Api-Key: $KEY\" --token \"$T\" --password-stdin"}`},
		{"code", Kind{}, `{"text":"if (token == null) { token = getToken(); token = props.token }\ninterface P { password: string }"}`},
		{"prose", Kind{}, `{"text":"The bearer of this, a basic understanding, a token: the name of a colour. Pass: 12 tests."}`},
		{"addresses", Kind{}, `{"a":"https://example.com:8080/@scope/pkg","b":"git@github.com:org/repo.git","c":"mailto:ada@example.com","d":"npm:react@18.2.0","e":"http://localhost:3000/a:b@c","f":"alpine:3.19@sha256:0123"}`},
		{"hashes", Kind{}, `{"commit":"9fceb02d0ae598e95dc970b74767f19372d61af8","sum":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`},
		{"the folder of a shell", Kind{}, `{"PWD":"/home/ada","command":"PWD=/home/ada make"}`},
		{"a line of a file as of a commit", Kind{}, `{"a":"file.ts:123@HEAD","b":"see file.ts:123@main","c":"git show HEAD:file@x","d":"(main.go:7@HEAD)"}`},
		{"tokens of a design", Kind{}, `{"design_token":"primary","designTokens":{"fg":"blue7"},"text":"design_token: primary\ndesign-token=spacing4","theme_token":"bg2"}`},
		{"letters that are no passwords", Kind{}, `{"a":"mkdir -p a/b7","b":"docker run -p 8080:80 x","c":"ssh -p 2222 host","d":"mysql -P 3306 -h x","e":"redis-cli -p 6379","f":"curl -u ada https://x","g":"zip -r a.zip b","h":"openssl s_client -key f.pem","i":"mysql -p db","j":"mysql -u x; mkdir -p7","args":["cp","-p","a7"]}`},
		{"letters with a variable", Kind{}, `{"a":"sshpass -p \"$PASS\" ssh x","b":"mysql -p$DB_PASS","args":["docker","login","-p","$TOKEN"]}`},
		{"a question about a secret", Kind{}, `{"questions":[{"id":"auth","question":"Which?","options":[{"label":"OAuth"}]}],"results":[{"id":"auth","selectedOptions":["OAuth"]}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(Rules{}.Body(tt.kind, false, json.RawMessage(tt.in))); got != tt.in {
				t.Errorf("got  %s\nwant %s", got, tt.in)
			}
		})
	}
}

func TestMemoryIsNotKeptUnderAnotherName(t *testing.T) {
	for _, in := range []string{
		`{"action":"write","key":"k","Value":"` + hush + `"}`,
		`{"action":"write","key":"k","valeu":{"a":["` + hush + `"]}}`,
		`{"action":"write","key":"k","values":["` + hush + `",7242]}`,
		`{"action":"write","key":"k","data":7242}`,
	} {
		got := string(Rules{}.Body(Kind{Keep: []string{"action", "key"}}, false, json.RawMessage(in)))
		if strings.Contains(got, hush) || strings.Contains(got, "7242") || !strings.Contains(got, `"key":"k"`) {
			t.Errorf("%s became %s", in, got)
		}
	}
}

func TestKnownValuesAreFoundAnywhere(t *testing.T) {
	var k Known
	r := Rules{Known: &k}
	k.Add("short", "a longer value", `with "quotes"`)
	got := string(r.Body(Kind{}, false, json.RawMessage(`{"a":"x a longer value y","b":"short","c":"with \"quotes\"","a longer value":1}`)))
	if want := `{"a":"x [redacted] y","b":"short","c":"[redacted]","[redacted]":1}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	k.Remove("a longer value")
	if got := r.Text("a longer value"); got != "a longer value" {
		t.Errorf("after it was removed: %s", got)
	}
}

// BenchmarkText is the search of a text without secrets for what looks like one.
func BenchmarkText(b *testing.B) {
	code := strings.Repeat("func (s *Server) token(key string) error { return s.auth.Check(key, s.msg.id) } // https://example.com/a?b=c\n", 1000)
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		Rules{}.Text(code)
	}
}

func FuzzText(f *testing.F) {
	f.Add("curl -u a:b https://x:y@z/ -H 'Cookie: a' eyJ ghp_ s.x @@ ://")
	f.Add("-----BEGIN PRIVATE KEY-----\nx\n-----END ")
	f.Add(`token := "a\"b" password:='x`)
	f.Fuzz(func(t *testing.T, s string) {
		if got := (Rules{}.Text(s + "\nDB_PASS=" + hush + "\n")); strings.Contains(got, hush) {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
