package personal_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/personal"
)

// reversed takes the place of encryption: it changes the bytes, and twice gives them back.
func reversed(b []byte) ([]byte, error) {
	b = slices.Clone(b)
	slices.Reverse(b)
	return b, nil
}

func TestText_UnsealedIsNeverWritten(t *testing.T) {
	t.Parallel()
	if b, err := json.Marshal(struct{ Phone personal.Text }{personal.Of("+254712345678")}); err == nil {
		t.Fatalf("plain personal text was written: %s", b)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "phone", personal.Of("+254712345678"))
	if shown := log.String() + fmt.Sprintf("%v %s", personal.Of("+254712345678"),
		personal.Of("+254712345678")); strings.Contains(shown, "254712345678") {
		t.Fatalf("personal text is shown: %s", shown)
	}
}

func TestText_SealedReadsBackAndErasesWithoutItsKey(t *testing.T) {
	t.Parallel()
	sealed, err := personal.Of("Jane").Seal(reversed)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(sealed)
	if err != nil || strings.Contains(string(b), "Jane") {
		t.Fatalf("sealed form %s, %v", b, err)
	}
	var read personal.Text
	if err := json.Unmarshal(b, &read); err != nil {
		t.Fatal(err)
	}
	if read.Reveal() != "" {
		t.Error("a text shows before it is opened")
	}
	opened, err := read.Open(reversed)
	if err != nil || opened.Reveal() != "Jane" || opened.Erased() {
		t.Errorf("opened: %q erased %v, %v", opened.Reveal(), opened.Erased(), err)
	}
	gone, err := read.Open(nil)
	if err != nil || gone.Reveal() != "" || !gone.Erased() {
		t.Errorf("without a key: %q erased %v, %v", gone.Reveal(), gone.Erased(), err)
	}
}

func TestText_EmptyStaysEmpty(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(personal.Text{})
	var read personal.Text
	if err != nil || string(b) != `""` || json.Unmarshal(b, &read) != nil || !read.IsZero() {
		t.Errorf("empty text became %s and %v", b, read.IsZero())
	}
	if json.Unmarshal([]byte(`"plain"`), &read) == nil {
		t.Error("a plain text was read as a sealed one")
	}
}
