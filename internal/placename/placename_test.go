package placename_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/placename"
)

func TestOf_EachFolderHasOneNameForEver(t *testing.T) {
	t.Parallel()
	dir, logger := t.TempDir(), slog.New(slog.DiscardHandler)
	first := placename.Of(dir, logger)
	if again := placename.Of(dir, logger); again != first || first == "" {
		t.Errorf("%q became %q", first, again)
	}
	if err := os.Remove(filepath.Join(dir, placename.File)); err != nil {
		t.Fatal(err)
	}
	if other := placename.Of(dir, logger); other == first { // as on another machine of the same name
		t.Errorf("two places have the name %q", first)
	}
	missing := filepath.Join(dir, "missing")
	if one, two := placename.Of(missing, logger), placename.Of(missing, logger); one == two || one == "" {
		t.Errorf("a folder that takes no file has the names %q and %q", one, two)
	}
}
