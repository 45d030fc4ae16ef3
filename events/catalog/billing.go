package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// billingUpcasters convert the first versions of events about accounts. Old events do not know the books after them:
// the field stays absent.
func billingUpcasters() []Upcaster {
	list := []Upcaster{
		{From: "billing.InvoiceAllocated.v1", To: "billing.InvoiceAllocated.v2", Up: withAllocation},
		{From: "billing.AllocationWithdrawn.v1", To: "billing.AllocationWithdrawn.v2", Up: withAllocation},
	}
	for _, name := range []string{
		"InvoiceIssued", "InvoiceVoided", "ReceiptCredited", "InvoicePaid", "InvoiceCancelled", "CreditNoteIssued",
		"ReceiptWithdrawn", "InvoiceReopened", "CreditLeft",
	} {
		list = append(list, Upcaster{From: "billing." + name + ".v1", To: "billing." + name + ".v2", Up: unchanged})
	}
	return list
}

// withAllocation adds the id of the allocation. In the first version an invoice had one allocation of each receipt.
func withAllocation(data json.RawMessage) (json.RawMessage, error) {
	var pair struct {
		InvoiceID id.Invoice `json:"invoiceId"`
		ReceiptID id.Receipt `json:"receiptId"`
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &pair); err != nil {
		return nil, fmt.Errorf("read receipt and invoice: %w", err)
	}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("read fields: %w", err)
	}
	allocation, err := json.Marshal(events.AllocationOf(pair.ReceiptID, events.ForInvoice,
		id.As[id.Any](pair.InvoiceID)))
	if err != nil {
		return nil, err
	}
	fields["allocationId"] = allocation
	return json.Marshal(fields)
}
