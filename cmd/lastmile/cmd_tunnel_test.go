package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTunnelConfig_ASecretsFileIsPrivateFromItsFirstByte also where an older one was readable by everybody, and nothing
// is left beside it.
func TestTunnelConfig_ASecretsFileIsPrivateFromItsFirstByte(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "chap-secrets")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil { //nolint:gosec // what a careless cron job made
		t.Fatal(err)
	}
	reader, err := os.Open(path) // somebody waits for the secrets
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := writePrivate(path, "new"); err != nil {
		t.Fatal(err)
	}
	found, err := os.Stat(path)
	if err != nil || found.Mode() != 0o600 {
		t.Fatalf("%v, %v", found.Mode(), err)
	}
	seen := make([]byte, 3)
	if _, err := reader.Read(seen); err != nil || string(seen) != "old" {
		t.Errorf("an open reader of the old file sees %q, %v", seen, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	if err := replaceFile(path, "#!/bin/sh\n", 0o700); err != nil {
		t.Fatal(err)
	}
	if found, err = os.Stat(path); err != nil || found.Mode() != 0o700 {
		t.Errorf("a program has the mode %v, %v", found.Mode(), err)
	}
	if err := writePrivate(filepath.Join(path, "nowhere"), "x"); err == nil {
		t.Error("a folder that does not exist")
	}
}
