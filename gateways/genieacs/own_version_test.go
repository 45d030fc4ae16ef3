package genieacs_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
)

// The version of our provisions and presets, and the hashes of what they are in it.
const (
	pinnedVersion = 6
	pinnedScripts = "c8006f1eb4d7f926f8bc179855af4cfee7355c9df3c3857a5e7e91aa61d1fba0"
	pinnedPresets = "e4df90afa3c6ae02585b2255dba796e747f1358ff97fc8e4aa6f3cede921af5c"
)

// TestOwn_AChangeIsANewVersion: of two programs of one version whose scripts differ, the older one may win at a server.
// So whoever changes a provision or a preset makes OwnVersion greater, and writes version and hashes here.
func TestOwn_AChangeIsANewVersion(t *testing.T) {
	t.Parallel()
	hash := func(all any) string {
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", sha256.Sum256(text))
	}
	scripts, presets := hash(genieacs.OwnScripts()), hash(genieacs.OwnPresets())
	if genieacs.OwnVersion != pinnedVersion || scripts != pinnedScripts || presets != pinnedPresets {
		t.Errorf("version %d has scripts %s and presets %s", genieacs.OwnVersion, scripts, presets)
	}
}
