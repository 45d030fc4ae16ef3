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
	pinnedVersion = 5
	pinnedScripts = "503e58c88134c4c54da08262cd2b1233efcce6c65dc115dff570dc9cef60ca4b"
	pinnedPresets = "8086169110b53c4becd38b39850bd4a1cf4f83ebe68df4407a3bfbfc218658c1"
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
