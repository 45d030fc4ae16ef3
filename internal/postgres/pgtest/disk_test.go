package pgtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestDisk_LosesWhatWasNotSynced: a file that was written, and one that was also brought to the disk.
func TestDisk_LosesWhatWasNotSynced(t *testing.T) {
	t.Parallel()
	d := pgtest.NewDisk(t)
	for name, synced := range map[string]bool{"written": false, "kept": true} {
		f, err := os.Create(filepath.Join(d.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("text"); err != nil {
			t.Fatal(err)
		}
		if synced {
			if err := f.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	d.Cut()
	if err := os.WriteFile(filepath.Join(d.Dir, "late"), []byte("text"), 0o600); err == nil {
		t.Error("it can be written to without power")
	}
	d.Restore()
	if text, err := os.ReadFile(filepath.Join(d.Dir, "kept")); err != nil || string(text) != "text" {
		t.Errorf("what was synced is %q: %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(d.Dir, "written")); err == nil && string(text) == "text" {
		t.Error("what was only written is there")
	}
}
