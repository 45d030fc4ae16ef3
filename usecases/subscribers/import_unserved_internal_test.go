package subscriberscases

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// TestImport_AMendedRowCompletesWhomAnImportMadeWithoutTheService and nobody else: not somebody who was made by hand,
// who has a service, who has another name, or whom another row of the file completes.
func TestImport_AMendedRowCompletesWhomAnImportMadeWithoutTheService(t *testing.T) {
	t.Parallel()
	const phone = "+254711000001"
	half, second := id.New[id.Subscriber](), id.New[id.Subscriber]()
	made := func(of id.Subscriber, first, key string) subscribersviews.PhoneRow {
		return subscribersviews.PhoneRow{SubscriberID: of, Phone: phone, FirstName: first, ImportRow: key}
	}
	type here = []subscribersviews.PhoneRow
	served := map[id.Subscriber]bool{half: true}
	row := "Amina,0711000001,house,amina\n"
	bare := "Amina,0711000001,house,\n"
	for name, c := range map[string]struct {
		here    here
		served  map[id.Subscriber]bool
		rows    string
		want    []id.Subscriber // of the rows that are stored; null = a new customer
		skipped int
	}{
		"with a username":      {here{made(half, "AMINA", "x")}, nil, row, []id.Subscriber{half}, 0},
		"by phone and name":    {here{made(half, "Amina", "x")}, nil, bare, []id.Subscriber{half}, 0},
		"no plan":              {here{made(half, "Amina", "x")}, nil, "Amina,0711000001,,\n", nil, 1},
		"another name":         {here{made(half, "Brian", "x")}, nil, row, []id.Subscriber{{}}, 0},
		"has a service":        {here{made(half, "Amina", "x")}, served, row, []id.Subscriber{{}}, 0},
		"has one, no username": {here{made(half, "Amina", "x")}, served, bare, nil, 1},
		"by hand":              {here{made(half, "Amina", "")}, nil, row, []id.Subscriber{{}}, 0},
		"two of two": {
			here{made(half, "Amina", "x"), made(second, "Amina", "y")}, nil,
			row + "Amina,0711000001,house,other\n", []id.Subscriber{half, second}, 0,
		},
		"one of two": {
			here{made(half, "Amina", "x")}, nil,
			row + "Amina,0711000001,house,other\n", []id.Subscriber{half, {}}, 0,
		},
	} {
		h := hereNow{
			taken: map[string]subscribersviews.TakenRow{}, people: c.here, served: c.served,
			plans: soldOf([]subscribersviews.PlanRow{sold(homePlan, "house", "House", calendar.Month)}),
		}
		out, _ := h.check(t, id.Derive[id.Import]("test", "mended"), "firstName,phone,planCode,username\n"+c.rows)
		var got []id.Subscriber
		for _, r := range h.stored {
			got = append(got, r.Completes)
		}
		if !slices.Equal(got, c.want) || out.Skipped != c.skipped {
			t.Errorf("%s: %v, %d skipped, %+v", name, got, out.Skipped, out.Faults)
		}
	}
}

// TestImport_TheSameRowCompletesItsOwnCustomer where another one of the file has the same phone and name.
func TestImport_TheSameRowCompletesItsOwnCustomer(t *testing.T) {
	t.Parallel()
	const file = "firstName,phone,planCode,username\nAmina,0711000001,house,one\nAmina,0711000001,house,two\n"
	h := hereNow{
		taken: map[string]subscribersviews.TakenRow{},
		plans: soldOf([]subscribersviews.PlanRow{sold(homePlan, "house", "House", calendar.Month)}),
	}
	one := id.Derive[id.Import]("test", "one")
	h.check(t, one, file)
	h.takesIn(one)
	h.taken = map[string]subscribersviews.TakenRow{} // both services were refused
	slices.Reverse(h.people)
	h.check(t, id.Derive[id.Import]("test", "two"), file+"\n")
	for i, r := range h.stored {
		if want := importedAs(one, i+2); r.Completes != want {
			t.Errorf("row %d completes %s, want %s", r.Row, r.Completes, want)
		}
	}
	if len(h.stored) != 2 {
		t.Errorf("%d rows", len(h.stored))
	}
}
