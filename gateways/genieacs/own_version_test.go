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
	pinnedScripts = "78f6d224031de757d8e3cfcd9675460f927a244e261ea0311c353273209e4715"
	pinnedPresets = "a042372e7ed7cf54901589a9ff4bc903a6ef5ffe3f8540bcbff2431235b03c91"
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
