package main

import (
	"fmt"
	"strings"

	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// household is a customer with one of each thing that a customer can have.
type household struct {
	phone, name                            string
	subscriber, account, subscription      string
	invoice, receipt, payment, note        string
	session, receiptNumber, username, mail string
	request                                string
}

// words are the texts that only this customer's things have.
func (h household) words() []string {
	return []string{
		h.phone, h.name, h.subscriber, h.account, h.subscription, h.invoice, h.receipt, h.payment, h.note, h.session,
		h.receiptNumber, h.username, h.mail, h.request,
	}
}

// things are the ids that fill the parameter of a path, by its first part.
func (h household) things() map[string]string {
	return map[string]string{
		"subscribers": h.subscriber, "subscriptions": h.subscription, "invoices": h.invoice, "receipts": h.receipt,
		"payments": h.payment, "credit-notes": h.note, "sessions": h.session,
		"support-requests": h.request,
	}
}

// path fills the parameters of a pattern with the household's things, and others with an id that nothing has.
func (h household) path(pattern string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if !strings.HasPrefix(part, ":") {
			continue
		}
		parts[i] = id.New[id.Any]().String()
		if known, is := h.things()[parts[1]]; is && i == 2 {
			parts[i] = known
		}
	}
	return strings.Join(parts, "/")
}

// Texts of staff about every customer, which no customer reads.
const (
	staffNote   = "pays late, be firm"
	staffTag    = "troublemaker"
	staffRef    = "CRM-4711"
	staffReason = "the clerk mistyped it"
	towerName   = "tower"
)

// staffWords are the texts that no answer to a customer has.
func (k *kit) staffWords() []string {
	return []string{staffNote, staffTag, staffRef, towerName, testAdminEmail}
}

// household makes a customer of acme with a service that is paid in cash and online, a credit note, and a payment that
// a phone was asked for.
func (k *kit) household(line connection, phone, name string) household {
	k.t.Helper()
	h := household{
		phone: phone, name: name, mail: strings.ToLower(name) + "@home.test", username: line.username,
		subscriber: line.subscriber, subscription: line.subscription, receiptNumber: "TILL-" + name,
	}
	h.account = k.must(k.admin, "PATCH", "/subscribers/"+h.subscriber, map[string]any{
		"firstName": name, "lastName": "Otieno", "phone": phone, "email": h.mail, "notes": staffNote,
		"tags": []string{staffTag}, "externalRef": staffRef,
	}).text("accountNumber")
	h.receipt = k.must(k.admin, "POST", "/payments/cash", map[string]any{
		"subscriberId": h.subscriber, "amount": 1000, "reference": h.receiptNumber,
	}).text("receiptId")
	h.invoice = k.must(k.admin, "POST", "/invoices", map[string]any{
		"subscriberId": h.subscriber,
		"lines":        []map[string]any{{"description": "Cable for " + name, "quantity": 1, "unitPrice": 300}},
	}).text("id")
	h.note = k.must(k.admin, "POST", "/invoices/"+h.invoice+"/credit-note", map[string]any{
		"amount": 50, "reason": staffReason,
	}).text("id")
	h.payment = k.must(k.admin, "POST", "/payments/initiate", map[string]any{
		"subscriberId": h.subscriber, "amount": 7, "phone": "+254733" + phone[len(phone)-6:],
	}).text("paymentId")
	k.report(line, rfc2865.Class_Get(k.online(line)), told{
		session: "8100" + phone[len(phone)-4:], mac: "AA-BB-CC-00-" + phone[len(phone)-4:len(phone)-2] + "-22",
		ip: "100.64.0." + strings.TrimLeft(phone[len(phone)-2:], "0"), status: rfc2866.AcctStatusType_Value_Start,
	})
	h.session = k.must(k.admin, "GET", "/sessions?subscriberId="+h.subscriber, nil).list("data")[0].text("id")
	h.request = k.must(k.admin, "POST", "/support-requests", map[string]any{
		"subscriberId": h.subscriber, "subject": "Slow at " + name, "text": name + " says that it is slow.",
	}).text("id")
	k.must(k.admin, "POST", "/support-requests/"+h.request+"/messages", map[string]any{
		"text": staffNote, "internal": true,
	})
	k.must(k.admin, "POST", "/support-requests/"+h.request+"/assign", map[string]any{
		"userId": k.must(k.admin, "GET", "/auth/me", nil).text("id"),
	})
	return h
}

// households makes two customers behind one router.
func (k *kit) households() (own, foreign household) {
	k.t.Helper()
	line := k.connect(k.admin, "secret-of-acme", "amina-line")
	plan := k.must(k.admin, "GET", "/plans", nil).list("data")[0].text("id")
	other := connection{secret: line.secret, username: "brian-line"}
	other.subscriber, _ = k.subscriber("254711000078")
	made := k.must(k.admin, "POST", "/subscriptions", map[string]any{
		"subscriberId": other.subscriber, "planId": plan, "username": other.username,
	})
	other.subscription, other.password = made.text("id"), made.text("password")
	return k.household(line, "+254711000077", "Amina"), k.household(other, "+254711000078", "Brian")
}

// seen gives an address access to a subscriber.
func (k *kit) seen(subscriber string, address map[string]string) answer {
	k.t.Helper()
	return k.must(k.admin, "POST", "/subscribers/"+subscriber+"/portal-access", address)
}

// atPortal signs in by the count-th code that is sent to an address from the host of an organization.
func (k *kit) atPortal(slug, address string, count int) apiClient {
	k.t.Helper()
	c := k.client(slug)
	k.must(c, "POST", "/auth/otp/send", map[string]string{"identifier": address})
	in := k.must(c, "POST", "/auth/otp/verify", map[string]string{
		"identifier": address, "code": k.codes(slug, address, count),
	})
	if in.at("user.role") != "subscriber" {
		k.t.Fatalf("signed in as %v", in)
	}
	c.token = in.text("accessToken")
	return c
}

// mine lists the subscribers that a customer sees.
func (k *kit) mine(c apiClient) string {
	k.t.Helper()
	var ids []string
	for _, row := range k.all(c, "/me/subscribers") {
		ids = append(ids, row.text("id"))
	}
	return fmt.Sprint(ids)
}
