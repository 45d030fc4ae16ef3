package subscriberscases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// hereNow are the customers of an organization, in place of its read models.
type hereNow struct {
	taken  map[string]subscribersviews.TakenRow
	people []subscribersviews.PhoneRow
	served map[id.Subscriber]bool
	plans  soldPlans
	reads  int         // by phones
	stored []importRow // of the last check
}

// takesIn makes the customers of the rows that the last check has stored, as the import would.
func (h *hereNow) takesIn(of id.Import) {
	for _, row := range h.stored {
		d, who := row.details(), importedAs(of, row.Row)
		h.people = append(h.people, subscribersviews.PhoneRow{
			SubscriberID: who, Phone: d.Phone.Reveal(), FirstName: d.FirstName.Reveal(),
			LastName: d.LastName.Reveal(), ImportRow: row.Key,
		})
		for _, v := range uniqueOf(row) {
			h.taken[v.key()] = subscribersviews.TakenRow{Key: v.key(), SubscriberID: who, Phone: d.Phone.Reveal()}
		}
	}
}

// fileKey is that of a vault, without its secret.
func fileKey(kind string, pieces ...[]byte) uuid.UUID {
	return id.Derive[id.Any](kind, string(bytes.Join(pieces, nil))).UUID()
}

// has adds a customer, who has the values, each as "column=value".
func (h *hereNow) has(of id.Subscriber, phone, first, last string, values ...string) {
	for _, v := range values {
		h.taken[v] = subscribersviews.TakenRow{Key: v, SubscriberID: of, Phone: phone}
	}
	if phone != "" {
		h.people = append(h.people, subscribersviews.PhoneRow{
			SubscriberID: of, Phone: phone, FirstName: first, LastName: last,
		})
	}
}

// check reads a file of our own columns as the import does that has the id; the rows that it would store are given by
// their numbers.
func (h *hereNow) check(t *testing.T, of id.Import, file string) (out CheckedImport, stored []int) {
	t.Helper()
	table, err := sheet.Open([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	layout, faults := layoutOf(table.Header, "")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	out.layout = layout
	cases := Imports{
		Key: fileKey,
		Taken: func(context.Context, id.Organization, subscribersviews.TakenValues,
		) (map[string]subscribersviews.TakenRow, error) {
			return h.taken, nil
		},
		ByPhones: func(_ context.Context, _ id.Organization, phones []string) ([]subscribersviews.PhoneRow, error) {
			h.reads++
			var rows []subscribersviews.PhoneRow
			for _, p := range h.people {
				if slices.Contains(phones, p.Phone) {
					rows = append(rows, p)
				}
			}
			return rows, nil
		},
		Served: func(context.Context, id.Organization, []id.Subscriber) (map[id.Subscriber]bool, error) {
			return h.served, nil
		},
	}
	reader := rowReader{layout: layout, currency: "KES", plans: h.plans}
	h.stored = nil
	b := blockTaker{
		out: &out, reader: reader, seen: map[string]int{}, keys: cases.rowKeys(id.Organization{}),
		here: cases.hereAlready(id.Organization{}, of, []byte(file), reader),
		take: func(rows []importRow) error {
			h.stored = append(h.stored, rows...)
			for _, row := range rows {
				stored = append(stored, row.Row)
			}
			return nil
		},
	}
	if err := b.all(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	return out, stored
}

// TestImport_WhoIsHereAlreadyIsSkipped when the file is checked: by a value that only one may have together with the
// phone, or by phone and name where the row has no such value.
func TestImport_WhoIsHereAlreadyIsSkipped(t *testing.T) {
	t.Parallel()
	h := hereNow{taken: map[string]subscribersviews.TakenRow{}}
	h.has(id.New[id.Subscriber](), "+254711000001", "Amina", "Otieno", "accountAliases=A1")
	h.has(id.New[id.Subscriber](), "+254711000002", "Brian", "", "accountAliases=B1", "accountAliases=B2")
	h.has(id.New[id.Subscriber](), "", "", "", "accountAliases=GONE") // forgotten
	const header = "firstName,lastName,phone,accountAliases\n"
	for row, want := range map[string]string{
		"Amina,Otieno,0711000001,":           "skipped",
		"AMINA  OTIENO,,+254 711 000 001,":   "skipped",
		"ami na,o tieno,0711000001,":         "skipped",
		"Amina,Otieno,0711000009,":           "valid", // another phone
		"Amina,Kip,0711000001,":              "valid", // somebody else of the family
		"Somebody,Else,0711000001,a1":        "skipped",
		"Somebody,Else,0711000001,a1|new":    "skipped",
		"Amina,Otieno,0711000001,new":        "valid", // a second service of hers
		"Brian,,0711000002,b1|b2":            "skipped",
		"Amina,Otieno,0711000001,a1|b1":      "accountAliases belongs to another customer already",
		"Amina,Otieno,0711000009,a1":         "accountAliases belongs to another customer already",
		"Gone,Away,0711000003,gone":          "accountAliases belongs to another customer already",
		"Amina,Otieno,none,":                 "phone must",
		"Amina,Otieno,0711000001,a1|toolong": "skipped",
	} {
		file := header + row + "\n"
		for _, of := range []id.Import{{}, id.Derive[id.Import]("test", "import")} {
			out, stored := h.check(t, of, file)
			got := fmt.Sprintf("valid %d, skipped %d, failed %d, stored %d", out.Valid, out.Skipped, out.Failed,
				len(stored))
			wants := map[string]string{
				"valid": "valid 1, skipped 0, failed 0, stored 1", "skipped": "valid 0, skipped 1, failed 0, stored 0",
			}[want]
			if wants == "" {
				wants = "valid 0, skipped 0, failed 1, stored 0"
				if f := out.Faults; len(f) != 1 || !strings.HasPrefix(f[0].Field+" "+f[0].Message, want) ||
					f[0].Column != f[0].Field {
					t.Errorf("%s: faults %+v", row, f)
				}
			}
			if got != wants {
				t.Errorf("%s: %s, want %s", row, got, wants)
			}
		}
	}
}

// TestImport_ItsOwnCustomersAreNotHereAlready: of two houses of one person both are taken in, and one that begins again
// loses nothing, in whatever block its rows are. Another import finds them.
func TestImport_ItsOwnCustomersAreNotHereAlready(t *testing.T) {
	t.Parallel()
	of, other := id.Derive[id.Import]("test", "one"), id.Derive[id.Import]("test", "two")
	h := hereNow{taken: map[string]subscribersviews.TakenRow{}}
	var file strings.Builder
	file.WriteString("firstName,phone,accountAliases\n")
	const n = 2*commands.ImportPartRows + 7
	for i := range n {
		alias := ""
		if i%3 == 0 {
			alias = fmt.Sprintf("A%d", i)
		}
		_, _ = fmt.Fprintf(&file, "Amina,0711000001,%s\n", alias)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i + 2 // the header is row 1
	}
	if out, stored := h.check(t, of, file.String()); out.Valid != n || !slices.Equal(stored, all) {
		t.Fatalf("at first %d of %d are valid", out.Valid, n)
	}
	for i := range n - 3 { // the last rows were lost
		var values []string
		if i%3 == 0 {
			values = []string{fmt.Sprintf("accountAliases=A%d", i)}
		}
		h.has(importedAs(of, i+2), "+254711000001", "Amina", "", values...)
	}
	h.reads = 0
	if out, stored := h.check(t, of, file.String()); out.Valid != n || out.Skipped != 0 || !slices.Equal(stored, all) {
		t.Errorf("again %d of %d are valid, %d skipped", out.Valid, n, out.Skipped)
	}
	if h.reads != 1 {
		t.Errorf("one phone is read %d times", h.reads)
	}
	for _, of := range []id.Import{other, {}} {
		if out, stored := h.check(t, of, file.String()); out.Skipped < n-3 || len(stored) > 3 || out.Failed > 0 {
			t.Errorf("%s: %d of %d are skipped, %d stored", of, out.Skipped, n, len(stored))
		}
	}
	h.has(id.New[id.Subscriber](), "+254711000001", "Amina", "")
	if out, _ := h.check(t, of, file.String()); out.Valid != n/3+1 {
		t.Errorf("beside a customer of before %d of %d are valid", out.Valid, n)
	}
}

// TestImport_OfAlikeRowsTheMendedOneIsTakenIn, and those that were taken in before are skipped, wherever they stand.
// One of the same old account number is a fault that says so.
func TestImport_OfAlikeRowsTheMendedOneIsTakenIn(t *testing.T) {
	t.Parallel()
	const (
		header   = "firstName,phone,openingBalance,accountAliases\n"
		good     = "Amina,0711000001,,\n"
		bad      = "Amina,0711000001,oops,\n"
		mended   = "Amina,0711000001,15,\n"
		coded    = "Amina,0711000001,,A1\n"
		badCoded = "Amina,0711000001,oops,A1\n"
		again    = "Amina,0711000001,15,a1\n"
		other    = "Brian,0711000002,,\n"
		twice    = "is also in row 2"
	)
	for name, c := range map[string]struct {
		first, then string
		stored      []int // of the second file
		skipped     int
		fault       string
	}{
		"below":               {good + bad, good + mended, []int{3}, 1, ""},
		"above":               {bad + good, mended + good, []int{2}, 1, ""},
		"rows are moved":      {other + bad + good, mended + other + good, []int{2}, 2, ""},
		"a row is taken out":  {"x,y,z\n" + good + bad, good + mended, []int{3}, 1, ""},
		"written otherwise":   {good + bad, "amina , +254 711 000 001,,\n" + mended, nil, 2, ""},
		"three are alike":     {good + bad + good, good + mended + good, []int{3}, 2, ""},
		"one more house":      {good + good, good + good + good, []int{4}, 2, ""},
		"beside an account":   {coded + bad, coded + mended, []int{3}, 1, ""},
		"before an account":   {bad + coded, mended + coded, []int{2}, 1, ""},
		"all once more":       {good + other + mended, good + other + mended + "\n", nil, 3, ""},
		"alone in its file":   {good + bad, mended, nil, 1, ""}, // whoever is here may be meant
		"the same account":    {coded + badCoded, coded + again, nil, 1, twice},
		"nothing of the file": {other, good + mended, []int{2, 3}, 0, ""},
	} {
		h := hereNow{taken: map[string]subscribersviews.TakenRow{}}
		h.check(t, id.Derive[id.Import]("test", "one"), header+c.first)
		h.takesIn(id.Derive[id.Import]("test", "one"))
		two := id.Derive[id.Import]("test", "two")
		for _, of := range []id.Import{{}, two} { // the dry run, and the import
			out, stored := h.check(t, of, header+c.then)
			if !slices.Equal(stored, c.stored) || out.Skipped != c.skipped ||
				(c.fault != "") != (len(out.Faults) == 1 && out.Faults[0].Message == c.fault) {
				t.Errorf("%s: stored %v, skipped %d, faults %+v", name, stored, out.Skipped, out.Faults)
			}
		}
		h.takesIn(two)
		if out, stored := h.check(t, id.Derive[id.Import]("test", "three"), header+c.then); len(stored) > 0 {
			t.Errorf("%s: once more %v are stored, %d skipped", name, stored, out.Skipped)
		}
	}
	h := hereNow{taken: map[string]subscribersviews.TakenRow{}}
	h.has(id.New[id.Subscriber](), "+254711000001", "Amina", "") // by hand: each of the rows may mean her
	if out, stored := h.check(t, id.Import{}, header+good+mended); out.Skipped != 2 {
		t.Errorf("beside one who was made by hand %v are stored", stored)
	}
}

// TestImport_ACheckThatCannotReadWhoIsHereFails: a row that is stored by mistake would make a customer twice.
func TestImport_ACheckThatCannotReadWhoIsHereFails(t *testing.T) {
	t.Parallel()
	lost := errors.New("lost")
	cases := Imports{
		Taken: func(context.Context, id.Organization, subscribersviews.TakenValues,
		) (map[string]subscribersviews.TakenRow, error) {
			return nil, nil
		},
		ByPhones: func(context.Context, id.Organization, []string) ([]subscribersviews.PhoneRow, error) {
			return nil, lost
		},
	}
	h := cases.hereAlready(id.Organization{}, id.Import{}, nil, rowReader{})
	rows := []importRow{{Row: 2, FirstName: "A", Phone: "0711000001"}}
	if _, err := h.find(t.Context(), rows); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
}
