package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeys_RotatePlatformKey: after a rotation the program starts and works without the previous key, also one that
// has not been started with both.
func TestKeys_RotatePlatformKey(t *testing.T) {
	t.Parallel()
	k := newKit(t, "PLATFORM_ENCRYPTION_KEY="+key32).start().signIn()
	k.subscriber("254711000601")
	k.app.Stop()
	next := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{4}, 32))
	k.environ = append(k.environ, "PLATFORM_ENCRYPTION_KEY="+next, "PLATFORM_ENCRYPTION_KEYS_PREVIOUS="+key32)
	if out := k.command("keys", "rotate"); strings.HasPrefix(out, "0 ") {
		t.Errorf("first rotation: %s", out)
	}
	if out := k.command("keys", "rotate"); !strings.HasPrefix(out, "0 ") {
		t.Errorf("second rotation: %s", out)
	}
	k.environ = append(k.environ, "PLATFORM_ENCRYPTION_KEYS_PREVIOUS=")
	if k.start(); !k.app.ran {
		t.Error("a start after the rotation takes no callbacks")
	}
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	if rows := k.all(k.admin, "/subscribers?q=0601"); len(rows) != 1 {
		t.Errorf("%d subscribers after the rotation", len(rows))
	}
}

// TestKeys_ErasuresSurviveARestore: a person erased after the backup is erased again.
func TestKeys_ErasuresSurviveARestore(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	subscriber, _ := k.subscriber("254711000602")
	list := filepath.Join(t.TempDir(), "erasures")
	if err := os.WriteFile(list, []byte(subscriber+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.command("keys", "erase", list)
	if out := strings.TrimSpace(k.command("keys", "erasures")); out != subscriber {
		t.Errorf("erasures %q, want %s", out, subscriber)
	}
	k.app.Stop()
	k.command("projections", "rebuild", "subscribers_subscribers")
	k.start()
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	if got := k.must(k.admin, "GET", "/subscribers/"+subscriber, nil); got.text("firstName") != "" ||
		got.text("phone") != "" {
		t.Errorf("the erased person is shown: %v", got)
	}
}
