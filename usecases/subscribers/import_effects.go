package subscriberscases

import (
	"cmp"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// ImportEffects are the sums of what the valid rows of a file make. Services are counted in exactly one of PaidTime,
// Lapsed, Unpaid and Postpaid.
type ImportEffects struct {
	Customers int // who are made
	Completed int // who are here, and get the service that they lack
	Services  int
	PaidTime  int // of the services, those with paid time from now on
	Lapsed    int // whose paid time has run out
	Unpaid    int // prepaid ones without paid time: they are offline until somebody pays
	Postpaid  int // that pay afterwards, and have no paid time
	Usernames int // that the file has; for the other services one is made
	Passwords int // that the file, or the router, has; for the other services one is made
	Hashed    int // services whose password the file has only in a form from which nobody can read it
	Owing     int
	Owed      money.Amount // by those who owe
	InCredit  int
	Credit    money.Amount // of those who had paid ahead
	Plans     []ImportPlan
	States    []ImportState
	Attached  int // rows that say more about the login of another row
}

// ImportPlan counts the services of a plan.
type ImportPlan struct {
	Code, Name string
	Services   int
}

// ImportState counts the customers with a state of the file, and says what they become.
type ImportState struct {
	Word      string // one of stateWords
	Becomes   string // one of ImportStates
	Customers int
}

// add counts a row that can be taken in.
func (e *ImportEffects) add(row importRow, plans soldPlans, now time.Time) {
	if row.Completes.IsZero() {
		e.Customers++
	} else {
		e.Completed++
	}
	switch {
	case row.Balance > 0:
		e.Owing++
		addTo(&e.Owed, row.Balance)
	case row.Balance < 0:
		e.InCredit++
		addTo(&e.Credit, -max(row.Balance, -mostCredit))
	}
	if row.StateWord != "" {
		e.state(row)
	}
	if !row.Plan.IsZero() {
		e.service(row, plans, now)
	}
}

// addTo adds to a sum that ends to grow at mostCredit.
func addTo(sum *money.Amount, minor int64) { sum.Minor += min(minor, mostCredit-sum.Minor) }

// state counts the state of a row.
func (e *ImportEffects) state(row importRow) {
	at := slices.IndexFunc(e.States, func(s ImportState) bool { return s.Word == row.StateWord })
	if at < 0 {
		at = len(e.States)
		e.States = append(e.States, ImportState{Word: row.StateWord, Becomes: row.State})
	}
	e.States[at].Customers++
}

// service counts the service of a row.
func (e *ImportEffects) service(row importRow, plans soldPlans, now time.Time) {
	plan := plans.byID[row.Plan]
	e.Services++
	switch {
	case row.PaidUntil.After(now):
		e.PaidTime++
	case !row.PaidUntil.IsZero():
		e.Lapsed++
	case plan.Terms.Mode == events.Postpaid:
		e.Postpaid++
	default:
		e.Unpaid++
	}
	if row.Username != "" {
		e.Usernames++
	}
	if row.Password != "" {
		e.Passwords++
	}
	if row.Hashed {
		e.Hashed++
	}
	at := slices.IndexFunc(e.Plans, func(p ImportPlan) bool { return p.Code == plan.Code })
	if at < 0 {
		at = len(e.Plans)
		e.Plans = append(e.Plans, ImportPlan{Code: plan.Code, Name: plan.Terms.Name})
	}
	e.Plans[at].Services++
}

// sorted brings the lists into one order, the largest counts first.
func (e *ImportEffects) sorted() {
	slices.SortFunc(e.Plans, func(a, b ImportPlan) int {
		return cmp.Or(cmp.Compare(b.Services, a.Services), cmp.Compare(a.Code, b.Code))
	})
	slices.SortFunc(e.States, func(a, b ImportState) int {
		return cmp.Or(cmp.Compare(b.Customers, a.Customers), cmp.Compare(a.Word, b.Word))
	})
}
