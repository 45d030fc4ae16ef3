package billing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// accountOpening is the JSON form of Account that a closed period passes to the next. It is durable: names never
// change, and the zero value of a new field must be harmless. Amounts are minor units of Currency.
type accountOpening struct {
	SubscriberID id.Subscriber                 `json:"subscriber"`
	OrgID        id.Organization               `json:"org"`
	Currency     money.Currency                `json:"currency"`
	Closed       bool                          `json:"closed,omitempty"`
	Forgotten    bool                          `json:"forgotten,omitempty"`
	Invoices     map[id.Invoice]openingInvoice `json:"invoices,omitempty"`
	Settled      map[id.Invoice]openingInvoice `json:"settled,omitempty"`
	Voided       map[id.Invoice]string         `json:"voided,omitempty"`
	Receipts     map[id.Receipt]openingReceipt `json:"receipts,omitempty"`
	Lots         []id.Receipt                  `json:"lots,omitempty"`
	Notes        map[id.Receipt]openingNote    `json:"notes,omitempty"`
	Prompts      map[id.Payment]openingPrompt  `json:"prompts,omitempty"`
	Archived     []byte                        `json:"archived,omitempty"` // ids of 16 bytes, oldest first
	ArchivedTo   time.Time                     `json:"archivedUntil,omitzero"`
	Issued       int                           `json:"issued,omitempty"`
	Credited     int                           `json:"credited,omitempty"`
}

// openingInvoice is the durable form of Invoice. Names of fields never change.
type openingInvoice struct {
	SubscriptionID id.Subscription   `json:"sub,omitzero"`
	SoldTo         id.Subscription   `json:"soldTo,omitzero"`
	Order          bool              `json:"order,omitempty"`
	RunID          id.BillingRun     `json:"run,omitzero"`
	PeriodFrom     time.Time         `json:"from,omitzero"`
	PeriodTo       time.Time         `json:"to,omitzero"`
	Number         string            `json:"number,omitempty"`
	Total          int64             `json:"total"`
	Once           int64             `json:"once,omitempty"`
	Due            int64             `json:"due,omitempty"`
	DueOn          calendar.Date     `json:"dueOn"`
	Seq            int               `json:"seq,omitempty"`
	Paid           bool              `json:"paid,omitempty"`
	EverPaid       bool              `json:"everPaid,omitempty"` // absent while Paid says so
	Cancelled      bool              `json:"cancelled,omitempty"`
	WroteOff       bool              `json:"wroteOff,omitempty"`
	Noted          int64             `json:"noted,omitempty"`
	WrittenOff     int64             `json:"writtenOff,omitempty"`
	Recovered      int64             `json:"recovered,omitempty"`
	Waived         bool              `json:"waived,omitempty"`
	ReplacedBy     id.Invoice        `json:"replacedBy,omitzero"`
	Part           events.PartPeriod `json:"part,omitzero"`
}

// openingReceipt is the durable form of Receipt. Names of fields never change.
type openingReceipt struct {
	Number      string              `json:"number,omitempty"`
	Amount      int64               `json:"amount"`
	Unused      int64               `json:"unused,omitempty"`
	Taken       int64               `json:"taken,omitempty"`
	Withdrawals []id.Withdrawal     `json:"withdrawals,omitempty"`
	Allocations []openingAllocation `json:"to,omitempty"`
	Seq         int                 `json:"seq,omitempty"`
	CreditNote  bool                `json:"note,omitempty"`
	WriteOff    bool                `json:"writeOff,omitempty"`
	Home        id.Invoice          `json:"home,omitzero"`
	Withdrawn   bool                `json:"withdrawn,omitempty"`
	Move        int                 `json:"move,omitempty"`
	BookedAt    time.Time           `json:"bookedAt,omitzero"`
}

// openingAllocation is the durable form of Allocation; Amount is in minor units. ID is that of the target, whatever its
// kind; Kind is "" for an invoice.
type openingAllocation struct {
	ID     id.Any `json:"invoice"`
	Kind   string `json:"kind,omitempty"`
	Amount int64  `json:"amount"`
	Done   bool   `json:"done,omitempty"`
}

// openingNote is the durable form of Note; Amount is in minor units.
type openingNote struct {
	InvoiceID id.Invoice `json:"invoice"`
	Amount    int64      `json:"amount"`
}

// openingPrompt is the durable form of Prompt; Amount is in minor units.
type openingPrompt struct {
	InvoiceID id.Invoice `json:"invoice,omitzero"`
	Amount    int64      `json:"amount"`
}

// closeAccount makes the last event of a full period, with the whole state except what archive drops
// (docs/rules/engine.md#closing-a-period). The reasons of notes travel outside the JSON, so that the codec seals them.
func closeAccount(s Account) events.AccountEvent {
	s = s.archive()
	opening, err := json.Marshal(accountOpening{
		SubscriberID: s.SubscriberID, OrgID: s.OrgID, Currency: s.Currency, Closed: s.Closed,
		Forgotten: s.Forgotten,
		Voided:    s.Voided, Lots: s.Lots, Issued: s.Issued, Credited: s.Credited,
		Archived: closeArchive(s.Archived), ArchivedTo: s.ArchivedUntil,
		Invoices: mapped(s.Invoices, closeInvoice), Settled: mapped(s.Settled, closeInvoice),
		Receipts: mapped(s.Receipts, closeReceipt),
		Notes: mapped(s.Notes, func(n Note) openingNote {
			return openingNote{InvoiceID: n.InvoiceID, Amount: n.Amount.Minor}
		}),
		Prompts: mapped(s.Prompts, func(p Prompt) openingPrompt {
			return openingPrompt{InvoiceID: p.InvoiceID, Amount: p.Amount.Minor}
		}),
	})
	if err != nil {
		// no field can fail to marshal
		panic(fmt.Sprintf("billing: write opening of account %s: %v", s.SubscriberID, err))
	}
	closed := events.AccountPeriodClosed{SubscriberID: s.SubscriberID, Opening: opening}
	for note, n := range s.Notes {
		closed.Notes = append(closed.Notes, events.NoteReason{CreditNoteID: note, Reason: n.Reason})
	}
	slices.SortFunc(closed.Notes, func(a, b events.NoteReason) int {
		return bytes.Compare(a.CreditNoteID[:], b.CreditNoteID[:])
	})
	return closed
}

// openingAccount decodes the JSON of closeAccount. It panics on anything else, because an account with a wrong state
// must not decide about money.
func openingAccount(opening []byte) Account {
	var o accountOpening
	if err := json.Unmarshal(opening, &o); err != nil {
		panic(fmt.Sprintf("billing: read opening of account: %v", err))
	}
	amount := func(minor int64) money.Amount { return money.Of(minor, o.Currency) }
	invoice := func(i openingInvoice) Invoice {
		return Invoice{
			SubscriptionID: i.SubscriptionID, SoldTo: i.SoldTo, Order: i.Order, RunID: i.RunID,
			PeriodFrom: i.PeriodFrom, PeriodTo: i.PeriodTo, Number: i.Number,
			Total: amount(i.Total), Once: amount(i.Once), Due: amount(i.Due), DueOn: i.DueOn, Seq: i.Seq, Paid: i.Paid,
			EverPaid:  i.EverPaid || i.Paid,
			Cancelled: i.Cancelled, WroteOff: i.WroteOff, Noted: amount(i.Noted), WrittenOff: amount(i.WrittenOff),
			Recovered: amount(i.Recovered), Waived: i.Waived, ReplacedBy: i.ReplacedBy, Part: i.Part,
		}
	}
	return Account{
		SubscriberID: o.SubscriberID, OrgID: o.OrgID, Currency: o.Currency, Closed: o.Closed,
		Forgotten: o.Forgotten,
		Voided:    o.Voided, Lots: o.Lots, Issued: o.Issued, Credited: o.Credited,
		Archived: openArchive(o.Archived), ArchivedUntil: o.ArchivedTo,
		Invoices: mapped(o.Invoices, invoice), Settled: mapped(o.Settled, invoice),
		Receipts: mapped(o.Receipts, func(r openingReceipt) Receipt { return openReceipt(r, amount) }),
		Notes: mapped(o.Notes, func(n openingNote) Note {
			return Note{InvoiceID: n.InvoiceID, Amount: amount(n.Amount)}
		}),
		Prompts: mapped(o.Prompts, func(p openingPrompt) Prompt {
			return Prompt{InvoiceID: p.InvoiceID, Amount: amount(p.Amount)}
		}),
	}
}

// closeInvoice keeps minor units only; the account's currency applies.
func closeInvoice(i Invoice) openingInvoice {
	return openingInvoice{
		SubscriptionID: i.SubscriptionID, SoldTo: i.SoldTo, Order: i.Order, RunID: i.RunID,
		PeriodFrom: i.PeriodFrom, PeriodTo: i.PeriodTo, Number: i.Number,
		Total: i.Total.Minor, Once: i.Once.Minor, Due: i.Due.Minor, DueOn: i.DueOn, Seq: i.Seq, Paid: i.Paid,
		Cancelled: i.Cancelled, WroteOff: i.WroteOff, Noted: i.Noted.Minor, WrittenOff: i.WrittenOff.Minor,
		Recovered: i.Recovered.Minor, Waived: i.Waived, ReplacedBy: i.ReplacedBy, Part: i.Part,
		EverPaid: i.EverPaid && !i.Paid,
	}
}

// closeReceipt keeps minor units only; the account's currency applies.
func closeReceipt(r Receipt) openingReceipt {
	o := openingReceipt{
		Number: r.Number, Amount: r.Amount.Minor, Unused: r.Unused.Minor, Taken: r.Taken.Minor,
		Withdrawals: r.Withdrawals, Seq: r.Seq, CreditNote: r.CreditNote, WriteOff: r.WriteOff, Home: r.Home,
		Withdrawn: r.Withdrawn, Move: r.Move, BookedAt: r.BookedAt,
	}
	for _, a := range r.Allocations {
		out := openingAllocation{ID: a.Target.ID, Kind: a.Target.Kind, Amount: a.Amount.Minor, Done: a.Done}
		if out.Kind == events.ForInvoice {
			out.Kind = ""
		}
		o.Allocations = append(o.Allocations, out)
	}
	return o
}

// openReceipt is the inverse of closeReceipt; amount adds the account's currency.
func openReceipt(o openingReceipt, amount func(minor int64) money.Amount) Receipt {
	r := Receipt{
		Number: o.Number, Amount: amount(o.Amount), Unused: amount(o.Unused), Taken: amount(o.Taken),
		Withdrawals: o.Withdrawals, Seq: o.Seq, CreditNote: o.CreditNote, WriteOff: o.WriteOff, Home: o.Home,
		Withdrawn: o.Withdrawn, Move: o.Move, BookedAt: o.BookedAt,
	}
	for _, a := range o.Allocations {
		kind := cmp.Or(a.Kind, events.ForInvoice)
		r.Allocations = append(r.Allocations, Allocation{Target{kind, a.ID}, amount(a.Amount), a.Done})
	}
	return r
}

// closeArchive joins the ids of 16 bytes.
func closeArchive(archived []id.Any) []byte {
	out := make([]byte, 0, 16*len(archived))
	for _, i := range archived {
		out = append(out, i[:]...)
	}
	return out
}

// openArchive is the inverse of closeArchive; no ids give nil. It panics when the last id is not whole.
func openArchive(ids []byte) []id.Any {
	var out []id.Any
	if len(ids)%16 != 0 {
		panic(fmt.Sprintf("billing: read opening of account: %d bytes are no ids", len(ids)))
	}
	for one := range slices.Chunk(ids, 16) {
		out = append(out, id.Any(one))
	}
	return out
}

// mapped converts the values of a map. An empty map gives nil, so that JSON leaves it out.
func mapped[K comparable, A, B any](in map[K]A, f func(A) B) map[K]B {
	if len(in) == 0 {
		return nil
	}
	out := make(map[K]B, len(in))
	for k, v := range in {
		out[k] = f(v)
	}
	return out
}

// withReasons adds the reasons of drafted credit notes, which travel beside the opening.
func (s Account) withReasons(list []events.NoteReason) Account {
	for _, r := range list {
		note := s.Notes[r.CreditNoteID]
		note.Reason = r.Reason
		s.Notes = with(s.Notes, r.CreditNoteID, note)
	}
	return s
}
