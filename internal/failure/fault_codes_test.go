package failure_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

func TestFieldFaults_HaveTheirFieldCodeAndValues(t *testing.T) {
	t.Parallel()
	var f failure.Faults
	f.Add("lines[0].unitPrice", "is required")
	f.Add("days", "must be from %d to %d", 1, 30)
	f.Add("subnet", "has host bits set, did you mean %s", "10.0.0.0/24")
	f.Add("name", "is strange")
	want := []failure.FieldFault{
		{Field: "lines[0].unitPrice", Code: "required", Values: []string{}},
		{Field: "days", Code: "out_of_range", Values: []string{"1", "30"}},
		{Field: "subnet", Code: "subnet_host_bits", Values: []string{"10.0.0.0/24"}}, {Field: "name"},
	}
	refused := failure.NewInvalid("invalid_input", f...)
	if diff := cmp.Diff(want, refused.FieldFaults()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if taken := failure.NewConflict("x", "Only %s of %d.", "KES 5.00", 3); !cmp.Equal(taken.Values,
		[]string{"KES 5.00", "3"}) {
		t.Errorf("values %q", taken.Values)
	}
}

// TestFaultCodes_AreOfTextsThatTheProgramSays: a text that is changed in the source must be changed at its code, too.
func TestFaultCodes_AreOfTextsThatTheProgramSays(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && (entry.Name() == "web" || entry.Name() == ".git") {
			if entry != nil && entry.IsDir() && err == nil {
				return filepath.SkipDir
			}
			return err
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && entry.Name() != "fault_codes.go" {
			text, err := os.ReadFile(path) //nolint:gosec // of the source
			source.Write(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	number := regexp.MustCompile(`%d`)
	for code, text := range failure.FaultTexts() {
		pattern := number.ReplaceAllString(regexp.QuoteMeta(text), `(%d|\d+)`) + `"`
		if !regexp.MustCompile(pattern).MatchString(source.String()) {
			t.Errorf("nothing says %q of %s", text, code)
		}
	}
}
