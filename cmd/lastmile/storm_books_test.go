package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// Where money can be besides on an account, for this comparison.
const (
	inSuspense = "suspense"
	takenBack  = "reversed"
	carried    = "absorbed" // by another receipt of the same money
)

// bookedReceipt has what the log says of one receipt.
type bookedReceipt struct {
	events.ReceiptRecorded
	org    id.Organization // the newest: assignment and matching set it
	state  string          // "", "matched", or one of the places above
	reason string          // of a suspense
	moved  bool            // a person has decided whose it is
	on     map[id.Subscriber]int64
}

// document is an invoice. Its state is the newest that the log tells: draft, issued, paid, cancelled or voided.
type document struct{ state string }

// comparison holds the provider's ledger against the log and against what the API shows. It folds the events by itself,
// so that it agrees with no rule of the program by construction.
type comparison struct {
	*storm
	next      uint64 // position in the log
	receipts  map[id.Receipt]*bookedReceipt
	byNumber  map[string][]*bookedReceipt
	byPrompt  map[string][]*bookedReceipt // provisional ones, by CheckoutRequestID
	owners    map[id.Subscriber]id.Organization
	invoices  map[id.Invoice]*document
	voided    map[string]bool // numbers of voided invoices
	granted   map[id.Series][]events.NumberGranted
	numbered  map[string]map[string]bool // documents by number
	courses   map[id.Subscription]*course
	byInvoice map[id.Invoice]*coursePeriod
}

// newComparison begins at the start of the log.
func newComparison(s *storm) *comparison {
	return &comparison{
		storm: s, receipts: map[id.Receipt]*bookedReceipt{}, byNumber: map[string][]*bookedReceipt{},
		byPrompt: map[string][]*bookedReceipt{}, owners: map[id.Subscriber]id.Organization{},
		invoices: map[id.Invoice]*document{}, voided: map[string]bool{},
		granted: map[id.Series][]events.NumberGranted{}, numbered: map[string]map[string]bool{},
		courses: map[id.Subscription]*course{}, byInvoice: map[id.Invoice]*coursePeriod{},
	}
}

// check waits until the books equal the ledger. Then the provider says everything once more, and a month goes by, in
// which subscriptions are renewed. Each difference that is there after one of these fails the test, and so does each
// fault that the doctor finds in the books.
func (a *comparison) check() {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	if err := until(ctx, "books to equal the provider's", func(ctx context.Context) (bool, error) {
		err := a.read(ctx)
		list := a.differences()
		return err == nil && len(list) == 0, errors.Join(err, fmt.Errorf("%d differences", len(list)))
	}); err != nil {
		a.t.Errorf("%v", err)
	}
	for range 2 { // whatever killed requests had reserved is freed, and prompts that outlived their day are asked about
		a.pass(time.Hour)
		a.quiet()
	}
	for _, next := range []func(){a.repeatEverything, func() { a.pass(33 * 24 * time.Hour) }} {
		a.tell("comparison")
		next()
		a.quiet()
		for _, d := range a.differences() {
			a.t.Error(d)
		}
		a.shown()
		a.soundBooks()
		a.command("doctor", "books", "--settled", "0s") // fails for any fault
	}
	if a.t.Failed() {
		a.explainStorm()
	}
}

// quiet waits until nothing is left to do and the log has not grown for two seconds, in which loops that a move of the
// clock has woken enqueue their jobs.
func (a *comparison) quiet() {
	a.t.Helper()
	was, since := a.next, time.Now()
	a.eventually("quiet", func(ctx context.Context) (bool, error) {
		left, err := a.unfinished(ctx)
		err = errors.Join(err, a.read(ctx))
		if a.next != was || left > 0 {
			was, since = a.next, time.Now()
		}
		return err == nil && time.Since(since) > 2*time.Second, errors.Join(err, fmt.Errorf("%d unfinished", left))
	})
}

// unfinished counts what the program has to do now: due and running jobs, and commands and due timers of processes.
func (a *comparison) unfinished(ctx context.Context) (left int, err error) {
	db, now := a.app.storage.db, a.app.clock.Now()
	jobs, processes := db.Namespace.Schema("river"), db.Namespace.Schema("processes")
	err = db.Owner.QueryRow(ctx, `select
		(select count(*) from `+jobs+`.river_job where state = 'running'
			or state in ('available', 'scheduled', 'retryable') and scheduled_at <= $1) +
		(select count(*) from `+processes+`.commands where stopped_at is null) +
		(select count(*) from `+processes+`.timers where due_at <= $1)`, now).Scan(&left)
	return left, err
}

// read takes what is new in the log.
func (a *comparison) read(ctx context.Context) error {
	for {
		page, next, err := a.app.storage.store.ReadAll(ctx, a.next, 500, nil)
		if err != nil {
			return err
		}
		for _, e := range page {
			a.receipt(e.Event)
			a.account(e.Event)
			a.number(e.Event)
			a.period(e.Event)
		}
		if next == a.next {
			return nil
		}
		a.next = next
	}
}

// receipt takes an event of a receipt.
func (a *comparison) receipt(event events.Event) {
	switch e := event.(type) {
	case events.ReceiptRecorded:
		r := &bookedReceipt{ReceiptRecorded: e, org: e.OrgID, on: map[id.Subscriber]int64{}}
		a.receipts[e.ReceiptID] = r
		if e.Provisional {
			a.byPrompt[e.CheckoutRequestID] = append(a.byPrompt[e.CheckoutRequestID], r)
		} else {
			a.byNumber[e.ReceiptNumber] = append(a.byNumber[e.ReceiptNumber], r)
		}
	case events.ReceiptMatched:
		r := a.receipts[e.ReceiptID]
		r.state, r.org, r.moved = "matched", e.OrgID, r.moved || e.By == "operator"
	case events.ReceiptHeld:
		a.receipts[e.ReceiptID].state, a.receipts[e.ReceiptID].reason = inSuspense, e.Reason
	case events.ReceiptClaimed: // from now on it carries the money of this number
		r := a.receipts[e.ReceiptID]
		a.samePayer(r.CheckoutRequestID, a.receipts[e.ClaimedBy])
		a.byPrompt[r.CheckoutRequestID] = slices.DeleteFunc(a.byPrompt[r.CheckoutRequestID],
			func(p *bookedReceipt) bool { return p == r })
		a.byNumber[e.ReceiptNumber] = append(a.byNumber[e.ReceiptNumber], r)
	case events.ReceiptAssigned:
		a.receipts[e.ReceiptID].org, a.receipts[e.ReceiptID].moved = e.OrgID, true
	case events.ReceiptAbsorbed:
		a.receipts[e.ReceiptID].state = carried
	case events.ReceiptReversed:
		a.receipts[e.ReceiptID].state, a.receipts[e.ReceiptID].moved = takenBack, true
	case events.ReceiptReattributed:
		a.receipts[e.ReceiptID].state, a.receipts[e.ReceiptID].moved = "matched", true
	}
}

// samePayer checks that money which claims the provisional receipt of a prompt is not from another phone. A masked
// phone proves nothing, so that such money may be somebody else's.
func (a *comparison) samePayer(prompt string, money *bookedReceipt) {
	phone := money.PayerPhone.Reveal()
	for _, p := range a.sim.Prompts() {
		if p.CheckoutRequestID == prompt && p.MSISDN != phone && phone != "" && !strings.Contains(phone, "*") {
			a.t.Errorf("%s, paid by %s, claims the money of prompt %s to %s", money.ReceiptNumber, phone, prompt,
				p.MSISDN)
		}
	}
}

// account takes an event that moves money to or from an account.
func (a *comparison) account(event events.Event) {
	switch e := event.(type) {
	case events.SubscriberRegistered:
		a.owners[e.SubscriberID] = e.OrgID
	case events.ReceiptCredited:
		if r := a.receipts[e.ReceiptID]; r != nil {
			r.on[e.SubscriberID] += e.Amount.Minor
		} else {
			a.t.Errorf("account of %s has money of a receipt that does not exist: %s", e.SubscriberID, e.Number)
		}
	case events.ReceiptWithdrawn:
		a.receipts[e.ReceiptID].on[e.SubscriberID] -= e.Amount.Minor
	}
}

// place is where some money is: "account <subscriber>" or one of the other places.
type place struct {
	name  string
	minor int64
	of    *bookedReceipt
	who   id.Subscriber // null when it is on no account
}

// places lists where the money of some receipts is.
func places(receipts []*bookedReceipt) (list []place) {
	for _, r := range receipts {
		on := 0
		for who, minor := range r.on {
			if minor != 0 {
				list = append(list, place{name: "account " + who.String(), minor: minor, of: r, who: who})
				on++
			}
		}
		if r.state == inSuspense || r.state == takenBack {
			list = append(list, place{name: r.state, minor: r.Amount.Minor, of: r})
		}
		if r.state == "" {
			list = append(list, place{name: "nowhere", of: r})
		}
	}
	if len(list) > 1 { // the reversal of a provisional receipt is over when the real one comes, which is then credited
		list = slices.DeleteFunc(list, func(p place) bool { return p.name == takenBack && p.of.Provisional })
	}
	return list
}

// differences compares the ledger with the log. Each difference is one line.
func (a *comparison) differences() (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	ledger, prompts := map[string]bool{}, map[string]bool{}
	for _, tx := range a.sim.Transactions() {
		ledger[tx.ReceiptNumber], prompts[tx.CheckoutRequestID] = true, true
		receipts := slices.Clone(a.byNumber[tx.ReceiptNumber])
		if tx.CheckoutRequestID != "" {
			receipts = append(receipts, a.byPrompt[tx.CheckoutRequestID]...)
		}
		at := places(receipts)
		if len(at) != 1 || at[0].minor != tx.Amount.Minor {
			say("%s %s of %d is in %d places: %s", tx.Channel, tx.ReceiptNumber, tx.Amount.Minor, len(at),
				tellPlaces(at))
			continue
		}
		if err := a.rightPlace(tx, at[0]); err != nil {
			say("%s %s of %d on %s, reference %q: %v", tx.Channel, tx.ReceiptNumber, tx.Amount.Minor, tx.ShortCode,
				tx.BillRefNumber, err)
		}
	}
	for _, r := range a.receipts {
		switch {
		case r.Channel == "cash":
			if at := places([]*bookedReceipt{r}); len(at) != 1 || at[0].minor != a.cash[r.ReceiptNumber].minor {
				say("cash %s is %v", r.ReceiptNumber, at)
			}
		case r.Provisional && !prompts[r.CheckoutRequestID], !r.Provisional && !ledger[r.ReceiptNumber]:
			say("receipt %s %s of %d never moved at the provider", r.ReceiptNumber, r.CheckoutRequestID, r.Amount.Minor)
		}
	}
	for reference, paid := range a.cash {
		if n := len(a.byNumber[reference]); n > 1 || n == 0 && paid.known {
			say("cash %s has %d receipts", reference, n)
		}
	}
	return append(append(list, a.documentFaults()...), a.courseFaults()...)
}

// tellPlaces writes places for a person.
func tellPlaces(list []place) (text string) {
	for _, p := range list {
		text += fmt.Sprintf("[%s %d, receipt %s, state %s %s] ", p.name, p.minor, p.of.ReceiptID, p.of.state,
			p.of.reason)
	}
	return text
}

// rightPlace checks that money is in the organization, and when that is known on the account, for which it was meant.
func (a *comparison) rightPlace(tx provider.Transaction, at place) error {
	m, known := a.meant[tx.ReceiptNumber]
	if !known { // a prompt: the phone has one owner, and the prompt was his
		for i, p := range a.crowd.people {
			if p.phone == tx.MSISDN {
				m = meaning{org: p.org, person: &a.crowd.people[i]}
			}
		}
	}
	org := at.of.org
	if held := at.of.reason != "" && at.of.moved; a.voided[m.invoice] && (at.name == inSuspense || held) {
		m.person, m.perhaps = nil, true // a voided invoice names nobody any more: a person decides
	}
	if !at.who.IsZero() && a.owners[at.who] != org {
		return fmt.Errorf("is on an account of another organization than the receipt's %s", org)
	}
	switch {
	case m.org == nil && !org.IsZero() && !at.of.moved:
		return errors.New("is nobody's, but an organization has it")
	case m.org == nil, m.perhaps && (org.IsZero() || at.of.moved):
		return nil
	case org.String() != m.org.id:
		return fmt.Errorf("is of %s, but organization %s has it", m.org.slug, org)
	case tx.Channel == "stk" && at.of.reason == "conflicting_prompt": // other money has settled its prompt
		return nil
	case m.person != nil && !at.of.moved && at.who.String() != m.person.id:
		return fmt.Errorf("is of account %s, but %s has it (%s)", m.person.account, at.name, at.of.reason)
	}
	return nil
}
