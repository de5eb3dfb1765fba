package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestNoSettingShowsASecret(t *testing.T) {
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
	c := load(t, map[string]string{"config.toml": strings.ReplaceAll(`
notify.command = ["notify", "--token", "SECRET"]
[pencil]
args = ["--api-key=SECRET"]
env = { KEY = "SECRET", MINE = "${env:MINE}", BOTH = "${env:A}SECRET${env:B}", OR = "${env:A:-SECRET}" }
[server.docs]
url = "https://docs.example.com/mcp?token=SECRET"
headers = { Authorization = "Bearer SECRET" }
[server.files]
command = ["npx", "files", "--api-key", "SECRET", "/srv"]
`, "SECRET", secret)})
	literals := map[string]string{}
	for _, s := range c.Settings() {
		if literals[s.Key] = s.Literal; strings.Contains(s.Literal+fmt.Sprint(s.Value), secret) {
			t.Errorf("%s shows %s, %v", s.Key, s.Literal, s.Value)
		}
	}
	for key, want := range map[string]string{
		"server.docs.url": "docs.example.com/mcp", "server.files.command": `"npx", "files", "--api-key"`, "pencil.env": `MINE = "${env:MINE}"`,
	} {
		if got := literals[key]; !strings.Contains(got, want) {
			t.Errorf("%s is %s, want it to have %s", key, got, want)
		}
	}
}
