package column

import (
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/internal/calendar"
)

// DateOrder says whether the day or the month comes first in a date such as 02/03/2026.
type DateOrder string

// The orders. A date with its year first, and one with the name of a month, has no order to decide.
const (
	AnyOrder   DateOrder = "" // the rows of the column decide
	DayFirst   DateOrder = "dmy"
	MonthFirst DateOrder = "mdy"
)

// DateOrders lists the orders that a person can choose.
var DateOrders = []DateOrder{DayFirst, MonthFirst}

// Known reports whether the order is one that a person can choose.
func (o DateOrder) Known() bool { return o == DayFirst || o == MonthFirst }

// Faults of one date. Each text follows the name of a field.
var (
	ErrNoDate       = errors.New("must be a date such as 2026-12-31, 31/12/2026 or 31 Dec 2026")
	ErrShortYear    = errors.New("must have its year with four digits")
	ErrNoSuchDay    = errors.New("is a day that does not exist")
	ErrUnclearOrder = errors.New("can be read with the day or with the month first")
)

// Moment is a date that was read, with its time of day when the cell has one.
type Moment struct {
	Day calendar.Date // in the zone of the cell, or of the column
	// At is the instant in UTC; the start of the day for a cell without a time.
	At    time.Time
	Timed bool
}

// Dates reads the dates of a column. Add takes all its cells first, Decide then says in which order of day and month
// they are read, and Read reads them. Not safe for concurrent use; after Decide, Read is.
type Dates struct {
	zone  *time.Location
	asked DateOrder
	order DateOrder // as decided; AnyOrder = open, or no cell needs it
	// The first cell that is a day in one order only, and the first one that is two different days.
	dayFirst, monthFirst, open seenDate
}

// seenDate is a date in a row of a file. The zero value means that no row has one.
type seenDate struct {
	row  int
	text string
}

// NewDates makes a reader of one column. Times without a zone are in the given one. asked is the order that the sender
// of the file chose; with AnyOrder the rows decide.
func NewDates(zone *time.Location, asked DateOrder) *Dates { return &Dates{zone: zone, asked: asked} }

// Add takes the cell of a row into account. A cell that is no date is passed over: Read says what is wrong with it.
func (d *Dates) Add(row int, text string) {
	form, err := readDateForm(text)
	if err != nil || !form.swappable {
		return
	}
	_, dmy := form.day(DayFirst)
	_, mdy := form.day(MonthFirst)
	seen := seenDate{row, form.written}
	switch {
	case dmy && mdy && form.first != form.second:
		note(&d.open, seen)
	case dmy && !mdy:
		note(&d.dayFirst, seen)
	case mdy && !dmy:
		note(&d.monthFirst, seen)
	}
}

// note keeps the first of several.
func note(first *seenDate, seen seenDate) {
	if first.text == "" {
		*first = seen
	}
}

// OrderError says why the dates of a column cannot be read in one order. It carries the rows that show it, so that a
// person can choose an order or mend the file.
type OrderError struct {
	Why  OrderTrouble
	Row  int
	Date string // as it is written in Row, without its time
	// OtherRow and OtherDate are set for Contradicting.
	OtherRow  int
	OtherDate string
}

// OrderTrouble is a reason for which an order cannot be decided.
type OrderTrouble uint8

// The reasons. Only for Undecided does it help to choose an order.
const (
	Undecided     OrderTrouble = iota + 1 // no row decides, and a date is two different days
	Contradicting                         // Row has the day first, OtherRow the month
	NotAsAsked                            // Row is no day in the order that was chosen
)

// Error follows the name of a field for the order, such as dateOrder.
func (e *OrderError) Error() string {
	switch e.Why {
	case Contradicting:
		return fmt.Sprintf("differs within the file: row %d has %s with the day first, row %d has %s with the month "+
			"first", e.Row, e.Date, e.OtherRow, e.OtherDate)
	case NotAsAsked:
		return fmt.Sprintf("is not the order of this file: row %d has %s", e.Row, e.Date)
	}
	return fmt.Sprintf("is needed: row %d has %s, and no row shows whether the day or the month comes first",
		e.Row, e.Date)
}

// Decide ends the first pass: it fixes the order in which all cells are read. It fails with an *OrderError, after which
// only those dates cannot be read that the order is needed for.
func (d *Dates) Decide() error {
	dmy, mdy := d.dayFirst, d.monthFirst
	switch {
	case dmy.text != "" && mdy.text != "":
		return &OrderError{Why: Contradicting, Row: dmy.row, Date: dmy.text, OtherRow: mdy.row, OtherDate: mdy.text}
	case d.asked == MonthFirst && dmy.text != "":
		return &OrderError{Why: NotAsAsked, Row: dmy.row, Date: dmy.text}
	case d.asked == DayFirst && mdy.text != "":
		return &OrderError{Why: NotAsAsked, Row: mdy.row, Date: mdy.text}
	case d.asked != AnyOrder:
		d.order = d.asked
	case dmy.text != "":
		d.order = DayFirst
	case mdy.text != "":
		d.order = MonthFirst
	case d.open.text != "":
		return &OrderError{Why: Undecided, Row: d.open.row, Date: d.open.text}
	}
	return nil
}

// Order is the order that Decide found; AnyOrder when no cell needs one.
func (d *Dates) Order() DateOrder { return d.order }

// Read reads one cell. Fails: ErrNoDate, ErrShortYear, ErrNoSuchDay, ErrUnclearOrder.
func (d *Dates) Read(text string) (Moment, error) {
	form, err := readDateForm(text)
	if err != nil {
		return Moment{}, err
	}
	order := d.order
	if form.swappable && order == AnyOrder {
		day, dmy := form.day(DayFirst)
		other, mdy := form.day(MonthFirst)
		switch {
		case dmy && mdy && day != other:
			return Moment{}, ErrUnclearOrder
		case dmy:
			order = DayFirst
		default:
			order = MonthFirst
		}
	}
	day, ok := form.day(order)
	if !ok {
		return Moment{}, ErrNoSuchDay
	}
	return form.on(day, d.zone), nil
}
