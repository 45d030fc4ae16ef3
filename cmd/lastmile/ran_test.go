package main

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// TestRanBefore_AfterAKeyRotation: the previous key is taken away, and the next start takes callbacks all the same.
func TestRanBefore_AfterAKeyRotation(t *testing.T) {
	t.Parallel()
	former, dir := secrets.Text(key32), t.TempDir()
	fresh := secrets.Text(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{4}, 32)))
	both := Config{DataDir: dir, EncryptionKey: fresh, PreviousEncryptionKeys: []secrets.Text{former}}
	var written []byte
	for i, step := range []struct {
		cfg         Config
		ran, writes bool
	}{
		{Config{DataDir: dir, EncryptionKey: former}, false, true},
		{Config{DataDir: dir, EncryptionKey: former}, true, false},
		{both, true, true},
		{both, true, false},
		{Config{DataDir: dir, EncryptionKey: fresh}, true, false},
		{Config{DataDir: dir, EncryptionKey: former}, false, true},
	} {
		a := &App{cfg: step.cfg, logger: slog.New(slog.DiscardHandler)}
		ran, err := ranBefore(a.cfg)
		if err != nil || ran != step.ran {
			t.Errorf("start %d: ran %v, %v, want %v", i+1, ran, err, step.ran)
		}
		a.proveRan(t.Context())
		text, err := os.ReadFile(filepath.Join(dir, ranFile))
		if err != nil {
			t.Fatal(err)
		}
		if writes := !bytes.Equal(text, written); writes != step.writes {
			t.Errorf("start %d: it writes its proof: %v, want %v", i+1, writes, step.writes)
		}
		written = text
	}
}
