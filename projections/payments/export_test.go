package paymentsviews

import (
	"maps"
	"slices"
)

// WaitingByDaySQL is the statement of ReceiptsQuery.WaitingByDay.
const WaitingByDaySQL = waitingByDaySQL

// ReceiptListSQL lets tests outside of the package explain the statement of a list.
var ReceiptListSQL = receiptListSQL

// ReferenceRules lists the rules by which money is matched, in order.
func ReferenceRules() []string { return slices.Sorted(maps.Keys(references)) }

// ReferenceColumns lists the columns that the rules compare.
func ReferenceColumns() (list []string) {
	for _, r := range references {
		list = addOnce(list, r.column)
	}
	return list
}
