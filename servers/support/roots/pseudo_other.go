//go:build !linux

package roots

func pseudo(string) bool { return false }
