package hub

import (
	"path/filepath"
	"testing"
)

func TestAMachineLeavesAHubAndJoinsAnother(t *testing.T) {
	b := Book{Dir: t.TempDir()}
	join := func(name string) (*Owned, Membership) {
		t.Helper()
		o, err := Init(filepath.Join(t.TempDir(), name), "127.0.0.1:4222", "hub.example:4222", "laptop")
		if err != nil {
			t.Fatal(err)
		}
		m, err := o.Add("build1", Host)
		if err == nil {
			err = b.Join(m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return o, m
	}
	knows := func(o *Owned, m Membership) *member {
		t.Helper()
		x, err := newMember(m, b)
		if err != nil {
			t.Fatal(err)
		}
		owner, err := KeysOf(o.Seed)
		if err != nil {
			t.Fatal(err)
		}
		message, err := owner.signList(o.List, decksSubject)
		if err != nil || !x.takeList(message) {
			t.Fatalf("the list is not taken: %v", err)
		}
		return x
	}
	knows(join("first"))
	o, m := join("second") // without leaving the first
	if x := knows(o, m); len(x.members().Members) != 1 {
		t.Errorf("what a host knows of the second hub is %+v", x.members())
	}
	if err := b.Join(o.Owner()); err != nil {
		t.Fatal(err)
	}
	gone, err := b.Leave()
	if err != nil || len(gone) != 1 || gone[0].Name != "build1" {
		t.Errorf("left is %+v, %v", gone, err)
	}
	if all, err := b.All(); err != nil || len(all) != 1 || all[0].Name != "laptop" {
		t.Errorf("joined is %+v, %v: a deck does not leave the hub that it has made", all, err)
	}
	if _, err := b.Leave(); err == nil {
		t.Error("what was left is left again")
	}
}
