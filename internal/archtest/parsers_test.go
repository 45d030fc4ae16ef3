package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/parsing"
)

// TestParsers_EveryUseIsInTheList: a file that parses and is not in the list of package parsing is found, by whatever
// name it has the parser.
func TestParsers_EveryUseIsInTheList(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`import "encoding/json"; var _ = json.Unmarshal(nil, nil)`:                             1,
		`import other "encoding/json"; var _ = other.NewDecoder(nil)`:                          1,
		`import "encoding/base64"; var _, _ = base64.RawURLEncoding.Strict().DecodeString("")`: 1,
		`import "image/png"; var read = png.DecodeConfig`:                                      1,
		`import "encoding/csv"; var _ = csv.NewReader(nil)`:                                    1,
		`import "compress/gzip"; var _, _ = gzip.NewReader(nil)`:                               1,
		`import "math/big"; var _, _ = new(big.Int).SetString("", 10)`:                         1,
		`import "regexp"; var _ = regexp.MustCompile(text())`:                                  1,
		`import "regexp"; var _, _ = regexp.Compile(c.pattern)`:                                1,
		`import "golang.org/x/image/font/sfnt"; var _, _ = sfnt.Parse(nil)`:                    1,
		`import "github.com/golang-jwt/jwt/v5"; var _, _ = jwt.ParseWithClaims()`:              1,
		`import "regexp"; var _ = regexp.MustCompile("a" + "b")`:                               0,
		`import "encoding/json"; var _, _ = json.Marshal(nil)`:                                 0,
		`import "encoding/base64"; var _ = base64.StdEncoding.EncodeToString(nil)`:             0,
	} {
		for name, counts := range map[string]bool{
			"gateways/new/x.go": true, "internal/money/money.go": false, "gateways/new/x_test.go": false,
			"simulators/acs/x.go": false,
		} {
			s, err := parse(name, []byte("package x\n"+body+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			found := len(checkParsers(s))
			if counts && found != want || !counts && found != 0 {
				t.Errorf("%s in %s: %d", body, name, found)
			}
		}
	}
}

// TestParsers_TheListHasNothingThatIsGone, and each of its parsers says what it is and what bounds it.
func TestParsers_TheListHasNothingThatIsGone(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, p := range parsing.List {
		if names[p.Name] || p.Name == "" || p.Sender == "" || p.Bounds == "" || len(p.Files) == 0 {
			t.Errorf("parser %q is there twice, or lacks its sender, files or bounds", p.Name)
		}
		if p.Child != (parsing.Limits{}) && (!p.Turn || p.Child.CPU <= 0 || p.Child.Memory <= 0 || p.Bytes == 0) {
			t.Errorf("child of %q has no turn or no limits", p.Name)
		}
		names[p.Name] = true
		for _, pattern := range p.Files {
			if _, err := os.Stat(filepath.Join("..", "..", strings.TrimSuffix(pattern, "/..."))); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
	}
}
