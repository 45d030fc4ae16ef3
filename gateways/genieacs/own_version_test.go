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
	pinnedVersion = 4
	pinnedScripts = "04e223467ee804b4af4e65b0c1d34640e152b2363f1430cfc933244b0a2df926"
	pinnedPresets = "85ffeb43cb9e11ad2be3305b9cc645b596b14420481125c4f018f6382ecee5cc"
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
