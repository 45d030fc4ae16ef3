package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// remarkUpcasters convert events whose free text about a person was recorded without a seal. The text is read as before
// until the person is forgotten; from then on it reads as erased.
func remarkUpcasters() []Upcaster {
	list := []Upcaster{
		{
			From: "billing.AccountPeriodClosed.v1", To: "billing.AccountPeriodClosed.v2", Up: withNoteReasons,
		},
		{
			From: "billing.InvoiceDrafted.v1", To: "billing.InvoiceDrafted.v2",
			Up: bare("lines", eachElement, "description"),
		},
	}
	for _, name := range []string{"SubscriberRegistered", "SubscriberDetailsCorrected"} {
		list = append(list, Upcaster{
			From: "subscribers." + name + ".v1", To: "subscribers." + name + ".v2",
			Up: bare("details", "tags", eachElement),
		}, Upcaster{
			From: "subscribers." + name + ".v2", To: "subscribers." + name + ".v3", Up: withPlaceAndReference,
		})
	}
	for name, version := range map[string]int{
		"billing.InvoiceVoided": 2, "billing.CreditNoteDrafted": 1, "billing.CreditNoteIssued": 2,
		"billing.ReceiptWithdrawn": 2, "billing.InvoiceReopened": 2, "billing.CreditSetAside": 1,
		"billing.SetAsideReturned": 1, "billing.DebtWrittenOff": 1, "subscribers.SubscriberBlocked": 1,
		"subscribers.SubscriberUnblocked": 1, "subscribers.PeriodWithdrawn": 2, "subscribers.SubscriptionPaused": 1,
		"subscribers.SubscriptionResumed": 2, "subscribers.SubscriptionEnded": 1, "payments.ReceiptReversed": 1,
		"payments.ReceiptReattributed": 1, "identity.MembershipDisabled": 1,
	} {
		list = append(list, Upcaster{
			From: fmt.Sprintf("%s.v%d", name, version), To: fmt.Sprintf("%s.v%d", name, version+1), Up: bare("reason"),
		})
	}
	return list
}

// withPlaceAndReference makes personal texts of the place of the service and of the customer's name in another system.
func withPlaceAndReference(data json.RawMessage) (json.RawMessage, error) {
	fields, details := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("read fields: %w", err)
	}
	if err := json.Unmarshal(fields["details"], &details); err != nil {
		return nil, fmt.Errorf("read details: %w", err)
	}
	var place *struct{ Latitude, Longitude float64 }
	if at := details["location"]; at != nil {
		if err := json.Unmarshal(at, &place); err != nil {
			return nil, fmt.Errorf("read location: %w", err)
		}
	}
	delete(details, "location")
	if place != nil {
		l := events.Location{Latitude: place.Latitude, Longitude: place.Longitude}
		details["location"] = personal.BareForm(l.Text().Reveal())
	}
	var err error
	if fields["details"], err = json.Marshal(details); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(fields); err != nil {
		return nil, err
	}
	return bare("details", "externalRef")(data)
}

// eachElement is the step of a path that goes to all elements of a list.
const eachElement = "[]"

// bare converts plain texts at a path to the form of personal texts that were recorded without a seal.
func bare(path ...string) func(json.RawMessage) (json.RawMessage, error) {
	return func(data json.RawMessage) (json.RawMessage, error) {
		out, err := bareAt(data, path)
		if err != nil {
			return nil, fmt.Errorf("read text at %v: %w", path, err)
		}
		return out, nil
	}
}

// bareAt does the work of bare. A place that is absent or null stays so.
func bareAt(data json.RawMessage, path []string) (json.RawMessage, error) {
	if len(data) == 0 || string(data) == "null" {
		return data, nil
	}
	if len(path) == 0 {
		var plain string
		if err := json.Unmarshal(data, &plain); err != nil || plain == "" {
			return data, err
		}
		return personal.BareForm(plain), nil
	}
	if path[0] == eachElement {
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, err
		}
		for i := range list {
			var err error
			if list[i], err = bareAt(list[i], path[1:]); err != nil {
				return nil, err
			}
		}
		return json.Marshal(list)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	if _, has := fields[path[0]]; !has {
		return data, nil
	}
	below, err := bareAt(fields[path[0]], path[1:])
	if err != nil {
		return nil, err
	}
	fields[path[0]] = below
	return json.Marshal(fields)
}

// withNoteReasons moves the reasons of drafted credit notes out of the opening.
func withNoteReasons(data json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("read fields: %w", err)
	}
	var packed []byte
	if err := json.Unmarshal(fields["opening"], &packed); err != nil {
		return nil, fmt.Errorf("read opening: %w", err)
	}
	opening := map[string]json.RawMessage{}
	notes := map[string]map[string]json.RawMessage{}
	if json.Unmarshal(packed, &opening) != nil || json.Unmarshal(opening["notes"], &notes) != nil || len(notes) == 0 {
		return data, nil // no drafted notes
	}
	var reasons []map[string]json.RawMessage
	for _, note := range slices.Sorted(maps.Keys(notes)) {
		reason, err := bareAt(notes[note]["reason"], nil)
		if err != nil {
			return nil, fmt.Errorf("read reason of a note: %w", err)
		}
		delete(notes[note], "reason")
		name, err := json.Marshal(note)
		if err != nil {
			return nil, err
		}
		reasons = append(reasons, map[string]json.RawMessage{"creditNoteId": name, "reason": reason})
	}
	var err error
	for _, step := range []func() error{
		func() error { opening["notes"], err = json.Marshal(notes); return err },
		func() error { packed, err = json.Marshal(opening); return err },
		func() error { fields["opening"], err = json.Marshal(packed); return err },
		func() error { fields["notes"], err = json.Marshal(reasons); return err },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(fields)
}
