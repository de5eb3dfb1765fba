package approvals

import "testing"

func TestEqualSubAgentsAreToldApart(t *testing.T) {
	var all Twins
	for _, tt := range []struct{ session, name, id, want string }{
		{"s", "tests", "a", "tests"},
		{"s", "tests", "b", "tests 2"},
		{"s", "tests", "a", "tests"},
		{"s", "docs", "c", "docs"},
		{"other", "tests", "b", "tests"},
		{"s", "tests", "d", "tests 3"},
		{"s", "", "e", ""},
	} {
		if got := all.Name(tt.session, tt.name, tt.id); got != tt.want {
			t.Errorf("%s %s is %q, want %q", tt.name, tt.id, got, tt.want)
		}
	}
	all.Forget("s")
	if got := all.Name("s", "tests", "z"); got != "tests" {
		t.Errorf("after its end it is %q", got)
	}
}
