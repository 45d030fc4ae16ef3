package column_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/column"
)

// nairobi is the zone of cells without a zone.
var nairobi = time.FixedZone("", 3*60*60)

// TestDates_ReadEachFormAlone that is one moment only.
func TestDates_ReadEachFormAlone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-12-31": "2026-12-30T21:00:00Z", "2026/12/31": "2026-12-30T21:00:00Z",
		"2026.3.2": "2026-03-01T21:00:00Z", "31/12/2026": "2026-12-30T21:00:00Z", "12-31-2026": "2026-12-30T21:00:00Z",
		"31.12.2026": "2026-12-30T21:00:00Z", "5/5/2026": "2026-05-04T21:00:00Z",
		"10 Jul 2027": "2027-07-09T21:00:00Z", "10-JUL-2027": "2027-07-09T21:00:00Z",
		"10 July 2027": "2027-07-09T21:00:00Z", "Jul 10, 2027": "2027-07-09T21:00:00Z",
		"jul/10/2027": "2027-07-09T21:00:00Z", "July 10th, 2027": "2027-07-09T21:00:00Z",
		"2027-Jul-10": "2027-07-09T21:00:00Z", "10jul2027": "2027-07-09T21:00:00Z",
		"Sat, 10 Jul 2027 12:00:00 GMT": "2027-07-10T12:00:00Z", "1 Sept 2026": "2026-08-31T21:00:00Z",
		"2026-03-02 14:05": "2026-03-02T11:05:00Z", "2026-03-02 14:05:33": "2026-03-02T11:05:33Z",
		"2026-03-02T14:05:33": "2026-03-02T11:05:33Z", "2026-03-02T14:05:33Z": "2026-03-02T14:05:33Z",
		"2026-03-02T14:05:33.25+03:00": "2026-03-02T11:05:33.25Z", "2026-03-02 14:05:33 +0100": "2026-03-02T13:05:33Z",
		"2026-03-02 14:05:33 EAT": "2026-03-02T11:05:33Z", "31/12/2026 2:05 PM": "2026-12-31T11:05:00Z",
		"31/12/2026 12:05:33 am": "2026-12-30T21:05:33Z", "31/12/2026 9:05 p.m.": "2026-12-31T18:05:00Z",
		"\u200e2026\u201112\u201131\u00a014:05\ufeff": "2026-12-31T11:05:00Z",
		"Dec 31 2026 23:59":                           "2026-12-31T20:59:00Z",
	} {
		got, err := column.NewDates(nairobi, column.AnyOrder).Read(text)
		if err != nil || got.At.Format(time.RFC3339Nano) != want || got.At.Location() != time.UTC ||
			got.Timed != strings.Contains(text, ":") {
			t.Errorf("%q is %s, %v, %v; want %s", text, got.At.Format(time.RFC3339Nano), got.Timed, err, want)
		}
	}
}

// TestDates_RefuseWhatIsNoDay, each with what is wrong with it.
func TestDates_RefuseWhatIsNoDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]error{
		"": column.ErrNoDate, "yesterday": column.ErrNoDate, "46000": column.ErrNoDate, "20261231": column.ErrNoDate,
		"31/12": column.ErrNoDate, "31/12-2026": column.ErrNoDate, "31/12/026": column.ErrNoDate,
		"2026-12-2026": column.ErrNoDate, "10 Jux 2027": column.ErrNoDate, "10 Jul": column.ErrNoDate,
		"2026-12-31 25:00": column.ErrNoDate, "2026-12-31 13:00 pm": column.ErrNoDate,
		"2026-12-31 1:60": column.ErrNoDate, "2026-12-31x": column.ErrNoDate, "2026-12-31 12:00 XYZ": column.ErrNoDate,
		"2026-12-31 12:00 +15:00": column.ErrNoDate, "2026-12-31Z": column.ErrNoDate, "=2026-12-31": column.ErrNoDate,
		"2026-12-31" + strings.Repeat(" ", column.MaxLength): column.ErrNoDate,
		"31/12/26": column.ErrShortYear, "10-Jul-27": column.ErrShortYear, "26-12-31": column.ErrShortYear,
		"2026-02-29": column.ErrNoSuchDay, "2026-13-01": column.ErrNoSuchDay, "30/02/2026": column.ErrNoSuchDay,
		"31 Apr 2026": column.ErrNoSuchDay, "0/1/2026": column.ErrNoSuchDay, "13/13/2026": column.ErrNoSuchDay,
		"0000-01-01": column.ErrNoSuchDay, "2026-00-10": column.ErrNoSuchDay,
		"02/03/2026": column.ErrUnclearOrder, "2-3-2026 14:05": column.ErrUnclearOrder,
	} {
		if got, err := column.NewDates(nairobi, column.AnyOrder).Read(text); !errors.Is(err, want) || !got.At.IsZero() {
			t.Errorf("%q is %s, %v; want %v", text, got.At, err, want)
		}
	}
}

// TestDates_OneRowDecidesTheOrderOfTheColumn, wherever it stands, and a row that is one day in both orders decides
// nothing.
func TestDates_OneRowDecidesTheOrderOfTheColumn(t *testing.T) {
	t.Parallel()
	may, november := "2026-05-11", "2026-11-05"
	for name, c := range map[string]struct {
		cells []string
		asked column.DateOrder
		want  string // of 11/05/2026
		why   column.OrderTrouble
		row   int
	}{
		"day first at the end":    {[]string{"11/05/2026", "31/12/2026"}, "", may, 0, 0},
		"month first at start":    {[]string{"12-31-2026", "11/05/2026"}, "", november, 0, 0},
		"none decides":            {[]string{"5/5/2026", "11/05/2026", "x"}, "", "", column.Undecided, 2},
		"chosen, day first":       {[]string{"11/05/2026"}, column.DayFirst, may, 0, 0},
		"chosen, month first":     {[]string{"11/05/2026"}, column.MonthFirst, november, 0, 0},
		"year first decides none": {[]string{"2026-05-31", "11/05/2026"}, "", "", column.Undecided, 2},
		"a name decides none":     {[]string{"31 May 2026", "11/05/2026"}, "", "", column.Undecided, 2},
		"no day decides none":     {[]string{"31/13/2026", "30/2/2026", "11/05/2026"}, "", "", column.Undecided, 3},
		"two orders":              {[]string{"11/05/2026", "31/5/2026", "5/31/2026"}, "", "", column.Contradicting, 2},
		"two orders, one said":    {[]string{"12/31/2026", "31/12/2026"}, "dmy", "", column.Contradicting, 2},
		"chosen against a row":    {[]string{"11/05/2026", "31/12/2026"}, "mdy", "", column.NotAsAsked, 2},
		"chosen against a later":  {[]string{"11/05/2026", "12/31/2026"}, "dmy", "", column.NotAsAsked, 2},
		"only one meaning":        {[]string{"5/5/2026", "2026-05-11"}, "", "", 0, 0},
		"chosen, none asks":       {[]string{"2026-05-11"}, "mdy", november, 0, 0},
	} {
		d := column.NewDates(nairobi, c.asked)
		for i, cell := range c.cells {
			d.Add(i+1, cell)
		}
		var trouble *column.OrderError
		switch err := d.Decide(); {
		case c.why == 0 && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.why != 0 && (!errors.As(err, &trouble) || trouble.Why != c.why || trouble.Row != c.row ||
			trouble.Date == ""):
			t.Errorf("%s: %v of %+v", name, err, trouble)
		}
		got, err := d.Read("11/05/2026")
		if c.want == "" && !errors.Is(err, column.ErrUnclearOrder) || c.want != "" && got.Day.String() != c.want {
			t.Errorf("%s: 11/05/2026 is %s, %v; want %q", name, got.Day, err, c.want)
		}
		if got, err := d.Read("2026-05-31"); err != nil || got.Day.String() != "2026-05-31" {
			t.Errorf("%s: a date with one meaning is %s, %v", name, got.Day, err)
		}
	}
}

// TestDates_AColumnInOneFormGivesItsDaysOrAsks: whatever the days and the form, all rows are read as they were
// written, or Decide fails because each of them has two meanings.
func TestDates_AColumnInOneFormGivesItsDaysOrAsks(t *testing.T) {
	t.Parallel()
	const seed = 20261130
	random := rand.New(rand.NewPCG(seed, 1))
	for round := range 500 {
		layout := []string{
			"02/01/2006", "01/02/2006", "2-1-2006 15:04:05", "1.2.2006", "2006-01-02", "2 Jan 2006",
		}[random.IntN(6)]
		d := column.NewDates(time.UTC, column.AnyOrder)
		days := make([]time.Time, 1+random.IntN(6))
		for i := range days {
			days[i] = time.Date(2026, 1, 1+random.IntN(800), 0, 0, 0, 0, time.UTC)
			d.Add(i+1, days[i].Format(layout))
		}
		decided := d.Decide()
		for _, day := range days {
			text := day.Format(layout)
			got, err := d.Read(text)
			switch {
			case err == nil && got.At.Equal(day):
			case decided != nil && errors.Is(err, column.ErrUnclearOrder):
			default:
				t.Fatalf("seed %d, round %d: %q is %s, %v after %v", seed, round, text, got.Day, err, decided)
			}
		}
		if decided != nil {
			for _, day := range days {
				if day.Day() > 12 {
					t.Fatalf("seed %d, round %d: %q decides, and is asked about: %v",
						seed, round, day.Format(layout), decided)
				}
			}
		}
	}
}

// TestDates_StartOfADayIsThatOfItsZone, also where a change to summer time skips midnight.
func TestDates_StartOfADayIsThatOfItsZone(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	got, err := column.NewDates(zone, column.AnyOrder).Read("24/04/2026")
	if want := (calendar.Date{Year: 2026, Month: 4, Day: 24}); err != nil || !got.At.Equal(want.Start(zone)) {
		t.Errorf("%s, %v; want %s", got.At, err, want.Start(zone))
	}
}

// FuzzDates: no text breaks the reader, and one that is read is the same day when it is written in ISO form.
func FuzzDates(f *testing.F) {
	for _, seed := range []string{
		"2026-12-31", "31/12/2026 14:05", "Jul 10, 2027", "10 Jul 2027 12:00:00 +03:00", "Sat, 1 May 2027", "0/0/0000",
		"31/12/26", "2026-12-31T23:59:59.999999999Z", "1.1.2026 12:00 a.m.", "\u200b",
	} {
		f.Add(seed, "12/31/2026")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		for _, order := range []column.DateOrder{column.AnyOrder, column.DayFirst, column.MonthFirst} {
			d := column.NewDates(time.UTC, order)
			d.Add(1, text)
			d.Add(2, other)
			_ = d.Decide()
			got, err := d.Read(text)
			if err != nil {
				if !got.At.IsZero() || fmt.Sprint(got.Day) != "" {
					t.Fatalf("%q is refused and %v", text, got)
				}
				continue
			}
			if again, err := d.Read(got.Day.String()); err != nil || again.Day != got.Day || got.At.IsZero() {
				t.Fatalf("%q is %s, which is read as %s, %v", text, got.Day, again.Day, err)
			}
		}
	})
}
