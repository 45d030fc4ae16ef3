package main

import (
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
)

// explainStorm logs what a person needs to find the cause of a difference.
func (a *comparison) explainStorm() {
	a.t.Logf("the provider's last messages:")
	sent := a.sim.Deliveries()
	for _, d := range sent[max(0, len(sent)-10):] {
		a.t.Logf("  %s %s %s status %d %s", d.At.Format(time.TimeOnly), d.Kind, d.ID, d.Status, d.Error)
	}
	a.t.Logf("%s", a.command("processes", "list"))
	for _, number := range a.accused() {
		for _, r := range a.byNumber[number] {
			a.explainReceipt(number, r)
		}
	}
}

// accused lists the numbers of the receipts that the differences name.
func (a *comparison) accused() (numbers []string) {
	for _, line := range a.differences() {
		for _, word := range strings.Fields(line) {
			if a.byNumber[word] != nil && !slices.Contains(numbers, word) {
				numbers = append(numbers, word)
			}
		}
	}
	return numbers
}

// explainReceipt logs what the provider sent about a receipt, and all events of its stream.
func (a *comparison) explainReceipt(number string, r *bookedReceipt) {
	a.t.Logf("receipt %s, id %s:", number, r.ReceiptID)
	for _, d := range a.sim.Deliveries() {
		if d.ID == number || d.ID == r.CheckoutRequestID {
			a.t.Logf("  the provider sent %s at %s: status %d %s", d.Kind, d.At.Format(time.TimeOnly), d.Status,
				d.Error)
		}
	}
	stream := commands.At(commands.ReceiptCategory, r.ReceiptID).Stream()
	list, err := a.app.storage.store.Read(a.t.Context(), stream, 0)
	for _, e := range list {
		a.t.Logf("  %d of %s by %s: %s %+v", e.Position, stream, e.Meta.Actor.Kind, e.Type, e.Event)
	}
	if err != nil {
		a.t.Log(err)
	}
}
