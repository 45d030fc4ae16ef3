package id_test

import (
	"encoding/json"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/id"
)

func TestDerive_SamePartsSameIDOtherPartsOther(t *testing.T) {
	t.Parallel()
	a := id.Derive[id.Receipt]("receipt", "mpesa", "SKE12AB34C")
	if a != id.Derive[id.Receipt]("receipt", "mpesa", "SKE12AB34C") {
		t.Error("the same facts gave two ids")
	}
	for _, parts := range [][]string{
		{"mpesa", "SKE12AB34D"}, {"mpesaSKE12", "AB34C"}, {"mpesa\x00SKE12AB34C"}, {"mpesa", "SKE12AB34C", ""},
	} {
		if a == id.Derive[id.Receipt]("receipt", parts...) {
			t.Errorf("%q gave the same id", parts)
		}
	}
}

func TestID_JSONAndSQLKeepNone(t *testing.T) {
	t.Parallel()
	type holder struct {
		A id.Invoice            `json:"a"`
		B map[id.Invoice]string `json:"b"`
	}
	in := holder{B: map[id.Invoice]string{id.New[id.Invoice](): "x"}}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out holder
	if err := json.Unmarshal(b, &out); err != nil || !out.A.IsZero() || len(out.B) != 1 {
		t.Errorf("%s became %+v, %v", b, out, err)
	}
	var scanned id.Invoice
	if v, err := scanned.Value(); v != nil || err != nil {
		t.Errorf("none is %v in SQL, %v", v, err)
	}
	want := id.New[id.Invoice]()
	if err := scanned.Scan(want.String()); err != nil || scanned != want {
		t.Errorf("scanned %v, %v; want %v", scanned, err, want)
	}
}

// A list of actors has the zero id for each that is no user. PostgreSQL refuses an empty text as a uuid.
func TestTexts_TheZeroIDIsLeftOut(t *testing.T) {
	t.Parallel()
	user := id.New[id.User]()
	got := id.Texts([]id.User{{}, user, {}})
	if len(got) != 1 || got[0] != user.String() {
		t.Errorf("Texts gave %q", got)
	}
	if none := id.Texts[int](nil); none == nil || len(none) != 0 {
		t.Errorf("Texts of none gave %#v", none)
	}
}

func TestParse_OneFormOnly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "x", "6f1d3c520f0b5c599d387a2f3ed1c3a4", "{6f1d3c52-0f0b-5c59-9d38-7a2f3ed1c3a4}",
		"urn:uuid:6f1d3c52-0f0b-5c59-9d38-7a2f3ed1c3a4",
	} {
		if v, err := id.Parse[id.Invoice](text); err == nil {
			t.Errorf("Parse(%q) = %v; want an error", text, v)
		}
	}
}
