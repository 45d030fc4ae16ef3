// Package documentscases makes the papers that customers get: invoices, receipts, credit notes and statements as PDF.
package documentscases

import (
	"context"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Documents makes documents of what the read models show (docs/rules/billing.md#documents). Safe for concurrent use.
type Documents struct {
	Press    *paper.Press
	Views    *runner.Views
	Settings usecases.SettingsOf
	Paybill  PaybillOf
	Logos    Logos
	Clock    clock.Clock
}

// PaybillOf gives the number that customers of an organization pay to.
type PaybillOf func(context.Context, id.Organization) (Paybill, error)

// Paybill is a number that customers pay to. Without a shortcode there is none.
type Paybill struct {
	Shortcode string
	Sandbox   bool // no money moves there
}

// File is a document with the name under which it is saved.
type File struct {
	Name string // letters, digits, dots and dashes alone
	PDF  []byte
}

// errNotIssued refuses a document that has no number yet.
func errNotIssued() error {
	return failure.NewConflict("document_not_issued",
		"This is a draft. It can be printed when it has its number, in a moment.")
}

// safeName makes the name of a file of words. Other characters than letters and digits of ASCII become dashes.
func safeName(words ...string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '-'
	}, strings.Join(words, "-"))
	const longest = 100
	return name[:min(len(name), longest)] + ".pdf"
}

// frame has the head of a document of any kind: who made it, for whom, and in which zone its dates are.
type frame struct {
	kind     string // such as "Invoice"
	number   string // "" = none
	stamp    string // across the pages; "" = none
	at       time.Time
	head     identityviews.Letterhead
	zone     *time.Location
	logo     *paper.Picture                  // nil = none
	customer *subscribersviews.SubscriberRow // nil = nobody
	// signature is the tax authority's; nil = the document needs none.
	signature *billingviews.SignatureRow
}

// frameAt reads the letterhead of an instant, and logo and customer as they are now; the zero subscriber is nobody.
func (d Documents) frameAt(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, at time.Time,
) (frame, error) {
	f := frame{at: at}
	head, err := identityviews.LetterheadsQuery{Views: d.Views}.At(ctx, org, at)
	switch {
	case err != nil:
		return f, err
	case head == nil:
		return f, commands.ErrNoOrganization()
	}
	f.head = *head
	if f.logo, err = d.Logos.Of(ctx, org); err != nil {
		return f, err
	}
	settings, err := d.Settings(ctx, org)
	if err != nil {
		return f, err
	}
	settings.Timezone = head.Timezone
	if f.zone, err = usecases.Zone(settings); err != nil || subscriber.IsZero() {
		return f, err
	}
	f.customer, err = subscribersviews.SubscribersQuery{Views: d.Views}.Get(ctx, org, subscriber)
	return f, err
}

// title is the kind of the document with its number.
func (f frame) title() string { return strings.TrimSpace(f.kind + " " + f.number) }

// draw makes a file: the head, and below it what write adds. facts stand opposite the customer.
func (d Documents) draw(ctx context.Context, f frame, facts [][2]string, write func(*paper.Sheet)) ([]byte, error) {
	about := paper.About{
		Title: f.title() + " - " + f.head.Name, Author: f.head.Name, Running: f.head.Name + " · " + f.title(),
		Stamp: f.stamp, At: f.at,
	}
	return d.Press.Draw(ctx, about, func(s *paper.Sheet) {
		f.begin(s, facts)
		write(s)
	})
}

// begin puts the head of the first page on the sheet.
func (f frame) begin(s *paper.Sheet, facts [][2]string) {
	const logoWidth, logoHeight = 160, 48 // in points
	if f.logo != nil {
		s.Picture(*f.logo, logoWidth, logoHeight)
		s.Space(10)
	}
	quiet := paper.Style{Quiet: true}
	left := []paper.Line{{Text: f.head.Name, Style: paper.Style{Size: 14, Bold: true}}}
	if f.head.TaxPIN != "" {
		left = append(left, paper.Line{Text: "Tax PIN: " + f.head.TaxPIN})
	}
	s.Sides(left, []paper.Line{
		{Text: f.kind, Style: paper.Style{Size: 18, Bold: true}}, {Text: f.number, Style: paper.Style{Size: 11}},
	})
	s.Space(24)
	var right []paper.Line
	for _, fact := range facts {
		if fact[1] != "" {
			right = append(right, paper.Line{Text: fact[0] + ": " + fact[1]})
		}
	}
	customer := f.customerLines()
	if len(customer) > 0 {
		customer = append([]paper.Line{{Text: "Customer", Style: quiet}}, customer...)
	}
	s.Sides(customer, right)
	s.Space(20)
}

// customerLines say who the customer is. Of a forgotten person only the account number is left.
func (f frame) customerLines() []paper.Line {
	c := f.customer
	if c == nil {
		return nil
	}
	name := strings.TrimSpace(null.Zero(c.FirstName) + " " + null.Zero(c.LastName))
	lines := []paper.Line{
		{Text: name, Style: paper.Style{Size: 11, Bold: true}}, {Text: "Account number: " + c.AccountNumber},
	}
	if c.TaxPIN != "" {
		lines = append(lines, paper.Line{Text: "Tax PIN: " + c.TaxPIN})
	}
	return append(lines, paper.Line{Text: null.Zero(c.Address)})
}

// invoices reads invoices and credit notes, by the rights of their organization.
func (d Documents) invoices() billingviews.InvoicesQuery {
	return billingviews.InvoicesQuery{Views: d.Views}
}

// receipts reads payments, by the rights of their organization.
func (d Documents) receipts() paymentsviews.ReceiptsQuery {
	return paymentsviews.ReceiptsQuery{Views: d.Views}
}

// statements reads the lines of accounts, by the rights of their organization.
func (d Documents) statements() billingviews.StatementQuery {
	return billingviews.StatementQuery{Views: d.Views}
}
