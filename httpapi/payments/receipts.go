package paymentsapi

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// Receipts serves /receipts.
type Receipts struct {
	Receipts paymentsviews.ReceiptsQuery
	Matching paymentsviews.MatchingQuery
	Invoices billingviews.InvoicesQuery
	Users    identityviews.UsersQuery
	Cases    paymentscases.Receipts
	Books    paymentscases.Books
	Proofs   paymentscases.Proofs
	// Suggestions finds whose money in suspense may be.
	Suggestions paymentscases.Suggestions
	// Zone gives the zone of an organization, in which the dates of filters are.
	Zone func(context.Context, id.Organization) (*time.Location, error)
	// MayAsk reports whether the provider can be asked about the money of a shortcode; nil = never.
	MayAsk func(ctx context.Context, org id.Organization, environment, shortcode string) (bool, error)
}

// Routes lists the endpoints of receipts. Money on platform shortcodes that no organization could be found for is on
// the root host (docs/rules/money.md#money-without-an-owner).
func (a Receipts) Routes() []httpapi.Route {
	state := httpapi.Param{
		Name: "state", Type: "string", Enum: paymentsviews.ReceiptStates,
		Doc: "suspense is the inbox of money that nobody could be found for; absorbed ones are listed here alone, " +
			"since the one that carries their money shows their sightings",
	}
	unclaimed := httpapi.Param{
		Name: "unclaimed", Type: "boolean",
		Doc: "true: provisional for more than 48 hours, and nobody has confirmed or reversed it",
	}
	return []httpapi.Route{
		{
			Method: "GET", Path: "/receipts", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "List receipts", Row: receiptDetailResponse{},
			Query: append([]httpapi.Param{
				state, {Name: "subscriberId", Type: "uuid"}, receiptNumber, unclaimed,
				{Name: "channel", Type: "string", Enum: paymentsviews.ReceiptChannels},
				{Name: "takenBy", Type: "uuid", Doc: "cash that this member of staff took"}, receiptSort,
			}, httpapi.SpanParams("recorded")...),
			Handle: a.list,
		},
		{
			Method: "GET", Path: "/receipts", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "List money of no organization, or find what was assigned", Row: receiptDetailResponse{},
			Query: []httpapi.Param{
				{Name: "state", Type: "string", Enum: []string{"suspense"}}, receiptNumber, receiptSort,
			},
			Handle: a.listUnowned,
		},
		{
			Method: "GET", Path: "/receipts/:id", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSubscriber,
			Own: httpapi.OwnRows, Summary: "Read a receipt", Response: receiptDetailResponse{}, Handle: a.get,
		},
		{
			Method: "GET", Path: "/receipts/:id/proof", Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary:  "Everything about one receipt: each message as it came, each decision, and the way of its money",
			Response: proofResponse{}, Handle: a.proof,
		},
		{
			Method: "POST", Path: "/receipts/:id/attribute", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Give money in suspense to a subscriber, or confirm whose it is", Request: attributeRequest{},
			Response: receiptDetailResponse{}, Handle: a.attribute,
		},
		{
			Method: "POST", Path: "/receipts/:id/reverse", Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Take a payment back", Request: httpapi.ReasonRequest{}, Response: receiptDetailResponse{},
			Handle: a.reverse,
		},
		{
			Method: "POST", Path: "/receipts/:id/reattribute", Hosts: httpapi.OnOrganization,
			Access: httpapi.AccessAdmin, Summary: "Move a payment to another subscriber", Request: reattributeRequest{},
			Response: receiptDetailResponse{}, Handle: a.reattribute,
		},
		{
			Method: "POST", Path: "/receipts/:id/assign", Hosts: httpapi.OnRoot, Access: httpapi.AccessSuperAdmin,
			Summary: "Give unmatched money to an organization", Request: assignRequest{}, Response: receiptResponse{},
			Handle: a.assign,
		},
	}
}

// receiptSort is the order of lists of receipts.
var receiptSort = httpapi.Param{
	Name: "sort", Type: "string", Enum: []string{"newest", "oldest"}, Doc: "what comes first; the newest when absent",
}

// receiptState is one of paymentsviews.ReceiptStates.
type receiptState string

// Texts implements httpapi.Enumerated.
func (receiptState) Texts() []string { return paymentsviews.ReceiptStates }

// receiptPayer is the person who paid, as far as the provider said.
type receiptPayer struct {
	Phone *string `json:"phone" doc:"may be masked"`
	Name  *string `json:"name"`
}

// receiptResponse is a receipt as its own stream has it, without the invoices that it pays.
type receiptResponse struct {
	ID               id.Receipt             `json:"id"`
	OrgID            *id.Organization       `json:"orgId" doc:"null: of no organization yet"`
	ReceiptNumber    *string                `json:"receiptNumber" doc:"null while the provider has not told it"`
	Provider         string                 `json:"provider"`
	Environment      *string                `json:"environment" enum:"sandbox,production" doc:"null for cash"`
	Channel          string                 `json:"channel" enum:"stk,c2b,cash,bill_manager"`
	Amount           httpapi.Number         `json:"amount"`
	Currency         money.Currency         `json:"currency"`
	PaidAt           time.Time              `json:"paidAt"`
	Payer            receiptPayer           `json:"payer"`
	BillRef          *string                `json:"billRef"`
	InvoiceNumber    *string                `json:"invoiceNumber" doc:"as the paybill's callback gave it"`
	ThirdPartyTrans  *string                `json:"thirdPartyTransId" doc:"of the validation before the payment"`
	Shortcode        *string                `json:"shortcode"`
	State            receiptState           `json:"state"`
	Reason           *string                `json:"reason" doc:"why it is in suspense, or was reversed or moved"`
	Disputed         bool                   `json:"disputed" doc:"two reports contradict each other"`
	Provisional      bool                   `json:"provisional" doc:"known by a status query only"`
	Unclaimed        bool                   `json:"unclaimed" doc:"an alarm: provisional for 48 hours, not confirmed"`
	SubscriberID     *id.Subscriber         `json:"subscriberId"`
	Subscriber       *httpapi.SubscriberRef `json:"subscriber" doc:"null: nobody, or not known yet"`
	CreditedTo       *id.Subscriber         `json:"creditedTo" doc:"whose account has it, also while disputed"`
	PaymentID        *id.Payment            `json:"paymentId"`
	MatchedBy        *string                `json:"matchedBy"`
	RelatedReceiptID *id.Receipt            `json:"relatedReceiptId" doc:"the other of provisional and real one"`
	Contradicts      *id.Receipt            `json:"contradicts" doc:"another organization has a receipt of this number"`
	Kind             *string                `json:"kind" enum:"cash,cheque,bank_transfer,card,other" doc:"of cash"`
	ReceivedOn       *string                `json:"receivedOn" format:"date" doc:"of cash; booked when recorded"`
	RecordedAt       time.Time              `json:"recordedAt"`
	Refunded         httpapi.Number         `json:"refunded" doc:"what went back to the payer, in major units"`
	TakenBy          *httpapi.StaffRef      `json:"takenBy" doc:"who took the cash; null: no cash, or not staff"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *receiptResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.Subscriber = name(null.Zero(r.SubscriberID))
}

// receiptDetailResponse is a receipt with its sightings, the invoices that it pays, and the subscribers whose it may
// be.
type receiptDetailResponse struct {
	receiptResponse
	Sightings   []receiptSighting    `json:"sightings"`
	Allocations []receiptAllocation  `json:"allocations"`
	Moves       []receiptMove        `json:"moves" doc:"from account to account, the oldest first"`
	Suggestions []receiptSuggestions `json:"suggestions"`
	Reversible  bool                 `json:"reversible" doc:"of one receipt: the provider can be asked to send it back"`
}

// NameSubscribers implements httpapi.NamesSubscribers.
func (r *receiptDetailResponse) NameSubscribers(name func(id.Subscriber) *httpapi.SubscriberRef) {
	r.receiptResponse.NameSubscribers(name)
	for i := range r.Suggestions {
		r.Suggestions[i].Subscriber = name(r.Suggestions[i].SubscriberID)
	}
	for i := range r.Moves {
		r.Moves[i].From, r.Moves[i].To = name(r.Moves[i].MovedFrom), name(r.Moves[i].MovedTo)
	}
}

// ForCustomer implements httpapi.StaffSees: how the money was found and moved, who took it, and whose it may be are
// staff's, as on the document. The reason of a reversal stays. Of money that was moved here from another account, who
// paid it and what was typed say whose it was.
func (r *receiptDetailResponse) ForCustomer() {
	if len(r.Moves) > 0 {
		r.Payer, r.BillRef, r.InvoiceNumber, r.PaymentID = receiptPayer{}, nil, nil, nil
	}
	r.Sightings, r.Moves, r.Suggestions = []receiptSighting{}, []receiptMove{}, []receiptSuggestions{}
	r.TakenBy, r.MatchedBy, r.RelatedReceiptID, r.Contradicts = nil, nil, nil, nil
	r.CreditedTo, r.ThirdPartyTrans = nil, nil
	r.Disputed, r.Unclaimed, r.Reversible = false, false, false
	if r.State != "reversed" {
		r.Reason = nil
	}
}

// receiptSighting is one message about the money. A contradicting message adds its amount and shortcode; they are
// absent when it was about another organization's money.
type receiptSighting struct {
	Kind      string          `json:"kind"`
	At        time.Time       `json:"at"`
	Verified  bool            `json:"verified"`
	Disputes  bool            `json:"disputes,omitempty" doc:"it contradicts the receipt"`
	Amount    *httpapi.Number `json:"amount,omitempty"`
	Shortcode string          `json:"shortcode,omitempty"`
}

// receiptAllocation is one invoice that the receipt pays, and the amount in major units.
type receiptAllocation struct {
	InvoiceID id.Invoice     `json:"invoiceId"`
	Number    *string        `json:"number" doc:"of the invoice; null: not known yet"`
	Amount    httpapi.Number `json:"amount"`
	Loss      bool           `json:"loss" doc:"the invoice is written off, and the money recovers its loss"`
}

// receiptMove is one move of the money by a person. The reason of the last one is the receipt's.
type receiptMove struct {
	MovedFrom id.Subscriber          `json:"movedFrom"`
	MovedTo   id.Subscriber          `json:"movedTo"`
	From      *httpapi.SubscriberRef `json:"from"`
	To        *httpapi.SubscriberRef `json:"to"`
	By        *httpapi.StaffRef      `json:"by" doc:"null: not staff"`
	At        time.Time              `json:"at"`
}

// showReceipt writes the amount in major units, and null for what is not known.
func showReceipt(r paymentsviews.ReceiptRow) receiptResponse {
	return receiptResponse{
		ID: r.ID, OrgID: null.Of(r.OrgID), ReceiptNumber: null.Of(r.ReceiptNumber), Provider: r.Provider,
		Channel: r.Channel, Amount: r.Amount().Number(), Currency: r.Currency, PaidAt: r.PaidAt,
		Payer: receiptPayer{Phone: r.PayerPhone, Name: r.PayerName}, BillRef: r.BillRef, InvoiceNumber: r.InvoiceNumber,
		ThirdPartyTrans: null.Of(r.ThirdPartyTransID), Environment: null.Of(r.Environment),
		Contradicts: null.Of(r.Contradicts), Shortcode: null.Of(r.Shortcode),
		State: receiptState(r.State), Reason: null.Of(r.Reason),
		Disputed: r.Disputed, Provisional: r.Provisional, Unclaimed: r.Unclaimed, SubscriberID: null.Of(r.SubscriberID),
		PaymentID: null.Of(r.PaymentID), MatchedBy: null.Of(r.MatchedBy), RelatedReceiptID: null.Of(r.RelatedID),
		CreditedTo: null.Of(r.CreditedTo), Kind: null.Of(r.CashKind), ReceivedOn: null.Of(r.ReceivedOn),
		RecordedAt: r.RecordedAt,
		Refunded:   money.Of(r.RefundedMinor, r.Currency).Number(),
	}
}

// receiptDetail is a receipt with the rows of other tables that are shown with it.
type receiptDetail struct {
	row  paymentsviews.ReceiptRow
	pays []paymentsviews.AllocationRow

	staff   map[id.User]string         // the names of who took the cash, and of who moved it
	numbers map[id.Invoice]string      // of the invoices that it pays
	near    []paymentscases.Suggestion // to whom a receipt in suspense may belong
	open    []openAttempt              // whose money a receipt in suspense may be

	reversible bool // of a receipt that is read alone
}

// openAttempt is an attempt with the account number of the subscriber who was asked.
type openAttempt struct {
	paymentsviews.PaymentRow
	account string          // "" for the root host
	org     id.Organization // for the root host; zero for others
}

// Key is the place of the receipt in the list.
func (d receiptDetail) Key() paymentsviews.ReceiptKey { return d.row.Key() }

// one describes how an organization's receipt is read and shown.
func (a Receipts) one() httpapi.One[id.Receipt, receiptDetail, receiptDetailResponse] {
	return httpapi.One[id.Receipt, receiptDetail, receiptDetailResponse]{
		Model: paymentsviews.ReceiptsName, Missing: commands.ErrNoReceipt, Show: showDetail,
		Revision: func(d receiptDetail) int64 { return d.row.Revision },
		Read: func(ctx context.Context, org id.Organization, receipt id.Receipt) (*receiptDetail, error) {
			row, err := a.Receipts.Get(ctx, org, receipt)
			if err != nil || row == nil {
				return nil, err
			}
			details, err := a.details(ctx, org, []paymentsviews.ReceiptRow{*row})
			if err != nil {
				return nil, err
			}
			details[0].reversible, err = a.reversible(ctx, *row)
			return &details[0], err
		},
	}
}

// list answers with a page of the organization's receipts.
func (a Receipts) list(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	filter := paymentsviews.ReceiptFilter{
		State: f.OneOf("state", paymentsviews.ReceiptStates...), ReceiptNumber: f.Text(receiptNumber.Name),
		Unclaimed: f.Bool("unclaimed"), Channel: f.OneOf("channel", paymentsviews.ReceiptChannels...),
		TakenBy: httpapi.FilterID[id.User](f, "takenBy"), Oldest: f.OneOf("sort", receiptSort.Enum...) == "oldest",
	}
	subscriber := httpapi.FilterID[id.Subscriber](f, "subscriberId")
	if !subscriber.IsZero() {
		filter.SubscriberIDs = []id.Subscriber{subscriber}
	}
	var err error
	filter.From, filter.To, err = f.Span(func() (*time.Location, error) { return a.Zone(ctx, c.Org.ID) })
	if err = cmp.Or(err, f.Err()); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showDetail, func(
		ctx context.Context, after paymentsviews.ReceiptKey, max int,
	) ([]receiptDetail, error) {
		own, err := c.Among(subscriber)
		if err != nil {
			return nil, err
		}
		if own != nil {
			filter.SubscriberIDs = own
		}
		rows, err := a.Receipts.List(ctx, c.Org.ID, filter, after, max)
		if err != nil {
			return nil, err
		}
		return a.details(ctx, c.Org.ID, rows)
	})
}

// listUnowned answers with a page of receipts that belong to no organization.
func (a Receipts) listUnowned(ctx context.Context, c *httpapi.Call) error {
	f := c.Filters()
	f.OneOf("state", "suspense")
	filter := paymentsviews.ReceiptFilter{
		ReceiptNumber: f.Text(receiptNumber.Name), Oldest: f.OneOf("sort", receiptSort.Enum...) == "oldest",
	}
	if err := f.Err(); err != nil {
		return err
	}
	return httpapi.SendList(ctx, c, showDetail, func(
		ctx context.Context, after paymentsviews.ReceiptKey, max int,
	) ([]receiptDetail, error) {
		rows, err := a.Receipts.Unowned(ctx, filter, after, max)
		if err != nil {
			return nil, err
		}
		return a.unownedDetails(ctx, rows)
	})
}

// unownedDetails adds the attempts of all organizations to receipts that wait because one of those may have them.
func (a Receipts) unownedDetails(ctx context.Context, rows []paymentsviews.ReceiptRow) ([]receiptDetail, error) {
	unclear := unclearReceipts(rows)
	lists, err := paymentsviews.PaymentsQuery{Views: a.Receipts.Views}.CandidatesOfAll(ctx, unclear...)
	if err != nil {
		return nil, err
	}
	open := map[id.Receipt][]openAttempt{}
	for i, r := range unclear {
		for _, p := range lists[i] {
			open[r.ID] = append(open[r.ID], openAttempt{PaymentRow: p, org: p.OrgID})
		}
	}
	near, err := a.Suggestions.OfUnowned(ctx, slices.DeleteFunc(slices.Clone(rows),
		func(r paymentsviews.ReceiptRow) bool { return len(open[r.ID]) > 0 })) // an attempt says more
	if err != nil {
		return nil, err
	}
	out := make([]receiptDetail, len(rows))
	for i, r := range rows {
		out[i] = receiptDetail{row: r, open: open[r.ID], near: near[r.ID]}
	}
	return out, nil
}

// get answers with one receipt and its details.
func (a Receipts) get(ctx context.Context, c *httpapi.Call) error {
	one := a.one()
	one.Read = httpapi.OwnRow(c, one.Read, func(d receiptDetail) id.Subscriber { return d.row.SubscriberID })
	return httpapi.ReadOne(ctx, c, one)
}

// details reads, in a few queries for all receipts, the invoices that they pay, and for those in suspense the
// subscribers whose they may be, and the attempts.
func (a Receipts) details(
	ctx context.Context, org id.Organization, rows []paymentsviews.ReceiptRow,
) ([]receiptDetail, error) {
	var ids []id.Receipt
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	pays, err := a.Receipts.Allocations(ctx, org, ids)
	if err != nil {
		return nil, err
	}
	numbers, names, err := a.names(ctx, org, rows, pays)
	if err != nil {
		return nil, err
	}
	near, err := a.Suggestions.Of(ctx, org, rows)
	if err != nil {
		return nil, err
	}
	attempts, err := a.attempts(ctx, org, rows)
	if err != nil {
		return nil, err
	}
	out := make([]receiptDetail, len(rows))
	for i, r := range rows {
		out[i] = receiptDetail{
			row: r, pays: pays[r.ID], open: attempts[r.ID], near: near[r.ID], numbers: numbers, staff: names,
		}
	}
	return out, nil
}

// names reads the numbers of the invoices that receipts pay, and the names of who took cash or moved it.
func (a Receipts) names(
	ctx context.Context, org id.Organization, rows []paymentsviews.ReceiptRow,
	pays map[id.Receipt][]paymentsviews.AllocationRow,
) (numbers map[id.Invoice]string, names map[id.User]string, err error) {
	var invoices []id.Invoice
	var users []id.User
	for _, r := range rows {
		for _, p := range pays[r.ID] {
			invoices = append(invoices, p.InvoiceID)
		}
		if !r.TakenBy.IsZero() {
			users = append(users, r.TakenBy)
		}
		for _, m := range r.Moves {
			users = append(users, m.By)
		}
	}
	if numbers, err = a.Invoices.Numbers(ctx, org, invoices); err != nil {
		return nil, nil, err
	}
	names, err = a.Users.Names(ctx, org, users)
	return numbers, names, err
}

// attempts lists, for receipts that wait because several attempts may have them, those of the organization.
func (a Receipts) attempts(
	ctx context.Context, org id.Organization, rows []paymentsviews.ReceiptRow,
) (map[id.Receipt][]openAttempt, error) {
	unclear := unclearReceipts(rows)
	lists, err := paymentsviews.PaymentsQuery{Views: a.Receipts.Views}.Candidates(ctx, org, unclear...)
	if err != nil {
		return nil, err
	}
	var asked []id.Subscriber
	for _, p := range slices.Concat(lists...) {
		asked = append(asked, p.SubscriberID)
	}
	numbers, err := a.Matching.NumbersOf(ctx, org, asked)
	if err != nil {
		return nil, err
	}
	out := map[id.Receipt][]openAttempt{}
	for i, r := range unclear {
		for _, p := range lists[i] {
			out[r.ID] = append(out[r.ID], openAttempt{PaymentRow: p, account: numbers[p.SubscriberID]})
		}
	}
	return out, nil
}

// unclearReceipts are those that wait because several attempts may have them.
func unclearReceipts(rows []paymentsviews.ReceiptRow) (unclear []paymentsviews.ReceiptRow) {
	for _, r := range rows {
		if r.State == "suspense" && r.Reason == commands.HeldConflictingPrompt && r.PaymentID.IsZero() {
			unclear = append(unclear, r)
		}
	}
	return unclear
}

// showDetail writes amounts in major units; no list is ever null.
func showDetail(d receiptDetail) receiptDetailResponse {
	out := receiptDetailResponse{
		receiptResponse: showReceipt(d.row), Sightings: []receiptSighting{}, Allocations: []receiptAllocation{},
		Suggestions: []receiptSuggestions{}, Moves: []receiptMove{}, Reversible: d.reversible,
	}
	out.TakenBy = showStaff(d.row.TakenBy, d.staff)
	for _, m := range d.row.Moves {
		out.Moves = append(out.Moves, receiptMove{
			MovedFrom: m.From, MovedTo: m.To, By: showStaff(m.By, d.staff), At: m.At,
		})
	}
	for _, s := range d.row.Sightings {
		seen := receiptSighting{
			Kind: s.Kind, At: s.At, Verified: s.Verified, Disputes: s.Disputes, Shortcode: s.Shortcode,
		}
		if s.AmountMinor != nil {
			said := money.Of(*s.AmountMinor, d.row.Currency).Number()
			seen.Amount = &said
		}
		out.Sightings = append(out.Sightings, seen)
	}
	for _, p := range d.pays {
		out.Allocations = append(out.Allocations, receiptAllocation{
			InvoiceID: p.InvoiceID, Number: null.Of(d.numbers[p.InvoiceID]),
			Amount: money.Of(p.AmountMinor, d.row.Currency).Number(), Loss: p.Loss,
		})
	}
	out.Suggestions = append(out.Suggestions, showSuggestions(d)...)
	return out
}
