package documentscases

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// MostLines bounds the lines of one statement: some 200 pages, drawn in less than a second.
const MostLines = 5000

// StatementInput asks for the lines of some days of the organization's zone, both included. The zero days are that of
// the first line of the account, and today.
type StatementInput struct {
	SubscriberID id.Subscriber
	From, To     calendar.Date
}

// statement is a part of an account with its balances.
type statement struct {
	frame
	from, to calendar.Date
	opening  money.Amount
	rows     []billingviews.StatementRow
	paybill  Paybill
}

// errTooLong refuses a statement that would be a book.
func errTooLong() error {
	return failure.NewConflict("statement_too_long",
		"The statement has more than %d lines. Ask for a shorter time, with from and to.", MostLines)
}

// Statement makes the document of an account's lines in some days, as GET /subscribers/:id/statement has them. Fails:
// subscriber_not_found, statement_too_long, invalid_input.
func (d Documents) Statement(ctx context.Context, org id.Organization, in StatementInput) (File, error) {
	now := d.Clock.Now()
	frame, err := d.frameAt(ctx, org, in.SubscriberID, now)
	switch {
	case err != nil:
		return File{}, err
	case frame.customer == nil:
		return File{}, commands.ErrNoSubscriber()
	}
	s := statement{frame: frame, from: in.From, to: in.To}
	if s.to.IsZero() {
		s.to = calendar.On(now, s.zone)
	}
	if s.to.Before(s.from) {
		return File{}, failure.NewInvalid("invalid_input", "to must not be before from")
	}
	if err := d.readLines(ctx, org, in.SubscriberID, &s); err != nil {
		return File{}, err
	}
	if s.paybill, err = d.Paybill(ctx, org); err != nil {
		return File{}, err
	}
	s.frame.kind = "Statement"
	pdf, err := d.draw(ctx, s.frame, s.facts(), s.write)
	name := safeName("statement", s.customer.AccountNumber, s.from.String(), s.to.String())
	return File{Name: name, PDF: pdf}, err
}

// readLines reads the lines and the balance before them. The date of the file is that of the last line, so that the
// same statement has the same bytes whenever it is drawn.
func (d Documents) readLines(
	ctx context.Context, org id.Organization, subscriber id.Subscriber, s *statement,
) error {
	var from time.Time
	if !s.from.IsZero() {
		from = s.from.Start(s.zone)
	}
	part, err := d.statements().Part(ctx, org, subscriber, from, s.to.AddDays(1).Start(s.zone), MostLines+1)
	switch {
	case err != nil:
		return err
	case len(part.Rows) > MostLines:
		return errTooLong()
	}
	s.rows, s.opening = part.Rows, money.Of(0, s.customer.Currency)
	if part.Before != nil {
		s.opening = part.Before.Balance()
	}
	if s.from.IsZero() {
		first := s.customer.CreatedAt
		if len(s.rows) > 0 {
			first = s.rows[0].At
		}
		s.from = calendar.On(first, s.zone)
	}
	s.frame.at = s.from.Start(s.zone)
	if len(s.rows) > 0 {
		s.frame.at = s.rows[len(s.rows)-1].At
	}
	return nil
}

// closing is the balance after the last line.
func (s statement) closing() money.Amount {
	if len(s.rows) == 0 {
		return s.opening
	}
	return s.rows[len(s.rows)-1].Balance()
}

// facts stand at the head.
func (s statement) facts() [][2]string {
	return [][2]string{{"From", day(s.from)}, {"To", day(s.to)}, {"Amounts in", string(s.closing().Currency)}}
}

// write puts the lines between opening and closing balance on the sheet.
func (s statement) write(p *paper.Sheet) {
	debits, credits := money.Of(0, s.opening.Currency), money.Of(0, s.opening.Currency)
	p.Table([]paper.Column{
		{Title: "Date", Share: 19}, {Title: "Description", Share: 39}, {Title: "Charge", Share: 14, Right: true},
		{Title: "Payment", Share: 14, Right: true}, {Title: "Balance", Share: 14, Right: true},
	}, func(yield func([]string) bool) {
		if !yield([]string{day(s.from), "Balance brought forward", "", "", figure(s.opening)}) {
			return
		}
		for _, row := range s.rows {
			debits, credits = debits.Add(row.Debit()), credits.Add(row.Credit())
			if !yield([]string{
				s.dayOf(&row.At), row.Description(), unlessZero(row.Debit()), unlessZero(row.Credit()),
				figure(row.Balance()),
			}) {
				return
			}
		}
	})
	closing := s.closing()
	name := "Owed on " + day(s.to)
	if closing.Negative() {
		name = "Credit on " + day(s.to)
	}
	p.Sums([]paper.Sum{
		{Name: "Charges", Amount: amount(debits)}, {Name: "Payments", Amount: amount(credits)},
		{Name: name, Amount: amount(positive(closing)), Strong: true},
	})
	p.Space(12)
	p.Text("A balance below zero is credit of the customer.", paper.Style{Quiet: true})
	if closing.Positive() && s.paybill.Shortcode != "" {
		p.Space(12)
		p.Text("How to pay", paper.Style{Bold: true})
		p.Text(s.paybill.sentence(s.customer.AccountNumber), paper.Style{})
	}
}

// unlessZero writes an amount; nothing for zero.
func unlessZero(a money.Amount) string {
	if a.IsZero() {
		return ""
	}
	return figure(a)
}
