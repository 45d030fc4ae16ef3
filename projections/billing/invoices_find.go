package billingviews

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// InvoiceSearch has the meanings that a typed number may have.
type InvoiceSearch struct {
	Numbers []string // whole numbers, as they are issued
	Begins  string   // the beginning of one, in capitals; "" = none
	Digits  string   // all digits of one without its prefix and without zeros before them; "" = none
}

// findInvoicesSQL finds invoices by their whole number, by its digits, and by its beginning.
const findInvoicesSQL = `select ` + invoiceColumns + ` from {schema}.invoices i
where i.invoice_id = any(array(
	(select invoice_id from {schema}.invoices where org_id = @org and number_key = any(@numbers::text[]) limit @max)
	union
	(select invoice_id from {schema}.invoices where org_id = @org and number_digits <> '' and number_digits = @digits
		order by number_digits, invoice_id limit @max)
	union
	(select invoice_id from {schema}.invoices where org_id = @org and @begins::text <> '' and number_key >= @begins
		and number_key < @ends order by number_key limit @max)))`

// Find queues a search for issued invoices of an organization. Of each way to mean one up to max come, in no order.
func (q InvoicesQuery) Find(r *postgres.Reads, into *[]InvoiceRow, org id.Organization, s InvoiceSearch, max int) {
	postgres.Collect(r, into, pgx.RowToStructByName[InvoiceRow], q.Views.SQL(InvoicesName, findInvoicesSQL),
		s.args(org, max))
}

// args are the arguments of findInvoicesSQL.
func (s InvoiceSearch) args(org id.Organization, max int) pgx.NamedArgs {
	return pgx.NamedArgs{
		"org": org, "numbers": append([]string{}, s.Numbers...), "digits": s.Digits, "begins": s.Begins,
		"ends": searchterm.End(s.Begins), "max": max,
	}
}

// Found says what of a row a search has found.
func (r InvoiceRow) Found(s InvoiceSearch) searchterm.Match {
	number := strings.ToUpper(r.Number)
	whole := slices.Contains(s.Numbers, number)
	if _, digits, dashed := strings.Cut(number, "-"); dashed && s.Digits != "" {
		whole = whole || strings.TrimLeft(digits, "0") == s.Digits
	}
	return searchterm.Match{By: "invoice", Whole: whole || number == s.Begins}
}
