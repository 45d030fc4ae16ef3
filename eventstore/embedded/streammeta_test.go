package embedded

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseStreamMeta_MalformedIsIgnoredAsAWhole: one malformed setting cancels all settings, as in the real server.
func TestParseStreamMeta_MalformedIsIgnoredAsAWhole(t *testing.T) {
	t.Parallel()
	const second = 10_000_000
	for body, want := range map[string]streamMeta{
		`{}`:                       {},
		`{"$maxCount":3,"x":[1]}`:  {maxCount: 3},
		`{"$maxAge":60,"$tb":7}`:   {maxAge: 60 * second, before: 7},
		`{"$maxCount":null}`:       {},
		`{"$maxCount":0,"$tb":7}`:  {},
		`{"$maxCount":-1,"$tb":7}`: {},
		`{"$maxCount":"3"}`:        {},
		`{"$maxAge":1.5,"$tb":7}`:  {},
		`{"$cacheControl":0}`:      {},
		`[]`:                       {},
		`not json`:                 {},
		softDeletion:               {before: softDeletedBefore},
	} {
		if got := parseStreamMeta(true, []byte(body)); got != want {
			t.Errorf("%s: got %+v, want %+v", body, got, want)
		}
	}
	if got := parseStreamMeta(false, []byte(`{"$maxCount":3}`)); got != (streamMeta{}) {
		t.Errorf("a body that is not JSON counts: %+v", got)
	}
	if got := parseStreamMeta(true, []byte(`{"$maxAge":9223372036854775807}`)); got.maxAge <= 0 {
		t.Errorf("a long age overflows: %d", got.maxAge)
	}
}

// FuzzParseStreamMeta: for any body that a client stores, the settings stay within their ranges.
func FuzzParseStreamMeta(f *testing.F) {
	f.Add([]byte(`{"$maxCount":3,"$maxAge":60,"$tb":7}`))
	f.Add([]byte(softDeletion))
	f.Fuzz(func(t *testing.T, body []byte) {
		m := parseStreamMeta(true, body)
		if m.maxCount < 0 || m.maxAge < 0 || m.before < 0 {
			t.Errorf("%q: %+v", body, m)
		}
		if !json.Valid(undeleted(true, body, 4)) || parseStreamMeta(true, undeleted(true, body, 4)).softDeleted() {
			t.Errorf("%q: undeleted as %s", body, undeleted(true, body, 4))
		}
	})
}

// TestUndeleted_KeepsEverythingElse: only $tb changes.
func TestUndeleted_KeepsEverythingElse(t *testing.T) {
	t.Parallel()
	var got map[string]any
	if err := json.Unmarshal(undeleted(true, []byte(`{"$tb":9223372036854775807,"$maxCount":5,"c":{"d":1}}`), 12),
		&got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"$tb": 12.0, "$maxCount": 5.0, "c": map[string]any{"d": 1.0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzParseLink: clients can store any bytes as the data of a link.
func FuzzParseLink(f *testing.F) {
	f.Add([]byte("1@a@b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if target, ok := parseLink(data); ok && (target.revision < 0 || !storable(target.stream)) {
			t.Errorf("%q: %+v", data, target)
		}
	})
}
