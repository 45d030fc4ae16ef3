package paymentsviews

import (
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
)

// findReceiptsSQL finds receipts by the beginning of their number. A condition on their owner follows.
const findReceiptsSQL = `select ` + receiptColumns + ` from {schema}.receipts
where number_key <> '' and number_key >= @begins and number_key < @ends and state <> 'absorbed' and `

// Find queues a search for up to max receipts of an organization whose number begins with what was typed, in the order
// of the numbers. A text of fewer than three characters is the beginning of none.
func (q ReceiptsQuery) Find(r *postgres.Reads, into *[]ReceiptRow, org id.Organization, text string, max int) {
	begins := receiptKey(text)
	if begins == "" {
		return
	}
	postgres.Collect(r, into, pgx.RowToStructByName[ReceiptRow], q.Views.SQL(ReceiptsName, findReceiptsSQL+
		`org_id = @org order by number_key, receipt_id limit @max`), pgx.NamedArgs{
		"org": org, "begins": begins, "ends": searchterm.End(begins), "max": max,
	})
}

// FindUnowned is Find for receipts in suspense that belong to no organization: for the root host.
func (q ReceiptsQuery) FindUnowned(r *postgres.Reads, into *[]ReceiptRow, text string, max int) {
	begins := receiptKey(text)
	if begins == "" {
		return
	}
	postgres.Collect(r, into, pgx.RowToStructByName[ReceiptRow], q.Views.SQL(ReceiptsName, findReceiptsSQL+
		`org_id is null and state = 'suspense' order by number_key, receipt_id limit @max`), pgx.NamedArgs{
		"begins": begins, "ends": searchterm.End(begins), "max": max,
	})
}

// minReceiptKey is the smallest number of characters of a receipt number that are looked up.
const minReceiptKey = 3

// receiptKey is a typed receipt number in the form of the column number_key, "" for a text that is none.
func receiptKey(text string) string {
	key := strings.ToUpper(strings.Join(strings.Fields(text), " "))
	if len(key) < minReceiptKey {
		return ""
	}
	return key
}

// Found says what of a row a search has found.
func (r ReceiptRow) Found(text string) searchterm.Match {
	return searchterm.Match{By: "receipt", Whole: receiptKey(r.ReceiptNumber) == receiptKey(text)}
}

// InvoiceNumbers are the numbers of invoices that a typed text may name, as they are issued, and the beginning of a
// number that it is; "" when it is none. Digits alone name none, because the prefix is not known: these are the third
// result, without zeros before them.
func InvoiceNumbers(text string) (numbers []string, begins, digits string) {
	named := readReference(text)
	if named.account != "" {
		return nil, "", strings.TrimLeft(searchterm.Digits(text), "0")
	}
	if len(named.parts) > 0 {
		begins = referenceKey(text)
	}
	return named.numbers(), begins, ""
}
