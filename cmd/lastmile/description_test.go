package main

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi"
)

// rewrite writes the description from which the dashboard's types are made.
var rewrite = flag.Bool("rewrite", false, "rewrite web/src/api/openapi.json")

// descriptionFile is read by web/scripts/types.mjs.
const descriptionFile = "../../web/src/api/openapi.json"

func TestDescription_TheDashboardIsBuiltFromThePresentOne(t *testing.T) {
	t.Parallel()
	k := newKit(t).start()
	server, ok := (*k.app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	want, err := server.Description()
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(descriptionFile, want, 0o644); err != nil { //nolint:gosec // part of the source
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(descriptionFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("web/src/api/openapi.json is not what the program serves; " +
			"rewrite it with: go test ./cmd/lastmile -run TestDescription -rewrite, and then build the pages")
	}
}
