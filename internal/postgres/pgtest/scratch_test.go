package pgtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// TestDir_LetsTheServersUserInAndIsGoneAfterTheTest: a directory in memory that stayed would take it from all that
// comes later.
func TestDir_LetsTheServersUserInAndIsGoneAfterTheTest(t *testing.T) {
	t.Parallel()
	var dir string
	t.Run("a test", func(t *testing.T) {
		dir = pgtest.Dir(t)
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o55 != 0o55 {
			t.Errorf("%v, %v", info, err)
		}
		if other := pgtest.Dir(t); other == dir {
			t.Error("two tests have one directory")
		}
		if err := os.WriteFile(filepath.Join(dir, "kept"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
