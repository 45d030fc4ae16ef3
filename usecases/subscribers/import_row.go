package subscriberscases

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/sheet"
)

// importRow is a row that can be taken in. Its JSON is sealed in the vault; nothing else may keep it, since it has the
// password in the clear.
type importRow struct {
	Row        int       `json:"row"`
	FirstName  string    `json:"firstName"`
	LastName   string    `json:"lastName,omitempty"`
	Phone      string    `json:"phone"`
	Email      string    `json:"email,omitempty"`
	Aliases    []string  `json:"aliases,omitempty"`
	Tags       []string  `json:"tags,omitempty"`
	Balance    int64     `json:"balance,omitempty"` // minor units
	Plan       id.Plan   `json:"plan,omitzero"`     // null = a customer without a service
	PaidUntil  time.Time `json:"paidUntil,omitzero"`
	BillingDay int       `json:"billingDay,omitempty"`
	Username   string    `json:"username,omitempty"`
	Password   string    `json:"password,omitempty"`
	StaticIP   string    `json:"staticIp,omitempty"`
	Prefix     string    `json:"prefix,omitempty"` // IPv6
	Routes     []string  `json:"routes,omitempty"`
	MACs       []string  `json:"macs,omitempty"`
	State      string    `json:"state,omitempty"` // one of ImportStates; "" = the file says nothing
	StateWord  string    `json:"-"`               // one of stateWords
	Hashed     bool      `json:"-"`               // the password is there in a form from which nobody can read it
	// Key is that of the content (docs/rules/subscribers-import.md#who-is-here-already).
	Key string `json:"key,omitempty"`
	// Completes is the customer whom an import has made without the service; null = the row makes one.
	Completes id.Subscriber `json:"completes,omitzero"`
}

// rowKeys gives rows their keys, by which a later file knows them again wherever they stand in it. Rows of a file that
// are alike have different ones. Not safe for concurrent use.
type rowKeys struct {
	key   func(kind string, pieces ...[]byte) uuid.UUID
	org   id.Organization
	alike map[uuid.UUID]int // how many rows had a content
}

// of is the key of the next row. A password is no part of it, since a router may have another one meanwhile.
func (k rowKeys) of(row importRow) (string, error) {
	row.Row, row.Password = 0, ""
	text, err := json.Marshal(row)
	if err != nil {
		return "", fmt.Errorf("write row: %w", err)
	}
	content := k.key("import_row", []byte(k.org.String()+" "), text)
	k.alike[content]++
	return fmt.Sprint(content, "/", k.alike[content]), nil
}

// details are the customer's, in one form.
func (r importRow) details() events.SubscriberDetails {
	return normalDetails(events.SubscriberDetails{
		FirstName: personal.Of(r.FirstName), LastName: personal.Of(r.LastName), Phone: personal.Of(r.Phone),
		Email: personal.Of(r.Email), Tags: personal.OfAll(r.Tags), AccountAliases: personal.OfAll(r.Aliases),
	})
}

// addresses are those of the service, in one form.
func (r importRow) addresses() commands.ServiceAddresses {
	return commands.NormalAddresses(commands.ServiceAddresses{
		StaticIP: personal.Of(r.StaticIP), StaticIPv6Prefix: personal.Of(r.Prefix), Routes: personal.OfAll(r.Routes),
		MACAddresses: personal.OfAll(r.MACs),
	})
}

// rowReader makes rows of cells. Its maps do not change.
type rowReader struct {
	layout   importLayout
	currency money.Currency
	zone     *time.Location
	now      time.Time
	plans    soldPlans
	source   string
	encoding sheet.Encoding
	dates    *column.Dates               // null = each date is read alone
	logins   map[string]*loginAttributes // null = the rows have no attributes
	// passwords has what a router knew, by username; nil = the file is in no connection with a router.
	passwords map[string]string
}

// read makes a row. What is wrong with it is told by the column.
func (r rowReader) read(cells []string, row int) (importRow, failure.Faults) {
	var faults failure.Faults
	if len(cells) > r.layout.width {
		faults.Add("", "has more cells than the header")
		return importRow{Row: row}, faults
	}
	cell := func(field string) string { return r.layout.cell(cells, field) }
	out := importRow{
		Row: row, FirstName: cell(colFirstName), LastName: cell(colLastName), Phone: cell(colPhone),
		Email: cell(colEmail), Username: cell(colUsername), StaticIP: cell(colStaticIP),
		Aliases: list(cell(colAliases), commands.NormalAlias, commands.MaxAliases),
		Tags:    list(cell(colTags), strings.TrimSpace, commands.MaxTags),
		MACs:    macsOf(cell(colMACs)),
		Routes:  list(cell(colRoutes), strings.TrimSpace, commands.MaxRoutes), Prefix: cell(colPrefix),
	}
	out.Password = r.layout.secret(cells, colPassword)
	if full := cell(colFullName); full != "" {
		out.FirstName, out.LastName, _ = strings.Cut(full, " ")
	}
	out.Balance = r.balance(cell, &faults)
	r.state(&out, cell, &faults)
	r.fromAttributes(&out)
	out.PaidUntil = r.paidUntil(out, cell, &faults)
	r.fromRouter(&out, &faults)
	r.service(&out, cell, &faults)
	r.form(out, &faults)
	return out, faults
}

// known makes a row that has its key, unless it has a fault.
func (r rowReader) known(cells []string, row int, keys rowKeys) (out importRow, faults failure.Faults, err error) {
	if out, faults = r.read(cells, row); len(faults) == 0 {
		out.Key, err = keys.of(out)
	}
	return out, faults, err
}

// fromRouter completes a row with the password that the router has. A username that it does not have was changed by a
// spreadsheet, as 0012 is to 12: the customer's device would be refused.
func (r rowReader) fromRouter(out *importRow, faults *failure.Faults) {
	if r.passwords == nil || out.Username == "" || out.Password != "" {
		return
	}
	var known bool
	out.Password, known = r.passwords[out.Username]
	faults.Check(known, colUsername, "is none that the router has; where it is meant, give a password too")
}

// balance reads the debt of the customer, in minor units.
func (r rowReader) balance(cell func(string) string, faults *failure.Faults) int64 {
	owed := figureOf(cell(colBalance), r.currency).In(r.currency, colBalance, faults)
	if credit := cell(colCredit); credit != "" {
		owed = figureOf(credit, r.currency).In(r.currency, colBalance, faults).Neg()
	}
	return owed.Minor
}

// Bounds on paidUntil: what is older or later was not meant.
const (
	mostYearsPaid = 5
	mostYearsOld  = 20
)

// paidUntil reads an instant or a local date, by the order of day and month that the whole file shows.
func (r rowReader) paidUntil(row importRow, cell func(string) string, faults *failure.Faults) time.Time {
	text := paidText(cell)
	if a := r.logins[row.Username]; text == "" && a != nil {
		text = a.paid
	}
	if text == "" {
		return time.Time{}
	}
	dates := r.dates
	if dates == nil {
		dates = column.NewDates(r.zone, column.AnyOrder)
	}
	read, err := dates.Read(text)
	switch {
	case err != nil:
		faults.Add(colPaidUntil, "%s", err)
	case read.At.Before(r.now.AddDate(-mostYearsOld, 0, 0)) || read.At.After(r.now.AddDate(mostYearsPaid, 0, 0)):
		faults.Add(colPaidUntil, "must be in the last %d or the next %d years", mostYearsOld, mostYearsPaid)
	default:
		return read.At.UTC()
	}
	return time.Time{}
}

// macsOf splits a cell of hardware addresses.
func macsOf(cell string) []string { return list(cell, commands.NormalMAC, commands.MaxMACs) }

// service reads what the customer's plan needs.
func (r rowReader) service(out *importRow, cell func(string) string, faults *failure.Faults) {
	day := cell(colDay)
	named := cell(colPlan)
	if named == "" {
		needs := !out.PaidUntil.IsZero() || day != "" || out.Username != "" || out.Password != "" ||
			out.StaticIP != "" || len(out.MACs) > 0
		faults.Check(!needs, colPlan, "is required for a service")
		return
	}
	plan, fault := r.plans.find(named)
	if fault != "" {
		faults.Add(colPlan, fault)
		return
	}
	out.Plan = plan.ID
	if day == "" {
		return
	}
	n, err := strconv.Atoi(day)
	switch {
	case err != nil || n < 1 || n > commands.MaxBillingDay:
		faults.Add(colDay, "must be from 1 to %d", commands.MaxBillingDay)
	case plan.Terms.Period != calendar.Month:
		faults.Add(colDay, "must be empty, unless the plan's period is a month")
	default:
		out.BillingDay = n
	}
}

// form checks what the commands would check, so that a dry run tells it.
func (r rowReader) form(out importRow, faults *failure.Faults) {
	register := commands.RegisterSubscriber{AccountNumber: commands.AccountNumber(0), Details: out.details()}
	create := commands.CreateSubscription{Username: personal.Of("x"), Addresses: out.addresses()}
	if out.Username != "" {
		create.Username = personal.Of(out.Username)
	}
	var f *failure.Error
	all := failure.JoinFaults(faults.Err(), register.Validate(), create.Validate(),
		checkNetworkPassword(secrets.Text(out.Password)))
	if errors.As(all, &f) {
		*faults = f.Faults
	}
}
