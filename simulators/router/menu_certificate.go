package router

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// issued reports whether a row of certificate is a certificate with its key, and not only a template.
func issued(w *row) bool { return w.props["fingerprint"] != "" }

// certificateMenus has the certificates: templates, and what sign makes of them.
func certificateMenus() []menu {
	return []menu{{
		path: "certificate", named: true, unique: []string{"name"},
		dup: "failure: certificate with such name already exists", commands: []string{"sign"}, command: signCertificate,
		props: []prop{
			nameProp, text("common-name", blank), text("country", ""), text("organization", ""),
			text("subject-alt-name", blank), {name: "days-valid", def: "365", check: number(1, 65535)},
			text("key-size", "2048"),
			text("key-usage", "digital-signature,key-encipherment,data-encipherment,key-cert-sign,crl-sign,"+
				"tls-server,tls-client"), no("trusted"),
		},
		state: []string{
			"fingerprint", "invalid-before", "invalid-after", "private-key", "authority", "issued", "expired",
			"serial-number", "ca",
		},
		show: func(r *Router, w *row, out Item) {
			if until, err := time.Parse("2006-01-02 15:04:05", w.props["invalid-after"]); err == nil {
				out["invalid-after"] = r.version.date(until)
				if !r.now().Before(until) {
					out["expired"] = "true"
				}
			}
		},
		guard: func(_ *Router, w, next *row) *Trap {
			for name, value := range next.props {
				if w != next && issued(w) && name != "name" && name != "trusted" && value != w.props[name] {
					return refuse("failure: can not change issued certificate")
				}
			}
			return nil
		},
		changed: renamed("certificate"),
	}}
}

// signCertificate makes certificates of templates, by themselves or by the authority in ca. The template is replaced by
// a row with another id. Source: docs/facts/routeros.md#certificates.
func signCertificate(r *Router, c call) (reply, *Trap) {
	m := r.menus["certificate"]
	rows, trap := r.targets(m, c.args)
	if trap != nil {
		return reply{}, trap
	}
	ca := c.args["ca"]
	if w := r.byName("certificate", ca); ca != "" && (w == nil || !issued(w)) {
		return reply{}, mismatch("ca")
	}
	for _, w := range rows {
		if issued(w) {
			return reply{}, refuse("failure: already signed")
		}
	}
	for _, w := range rows {
		next := &row{props: maps.Clone(w.props)}
		at := r.tableOf(m.table).index(w)
		r.drop(m.table, w)
		r.insert(m.table, next)
		t := r.tableOf(m.table)
		t.rows = slices.Insert(t.rows[:len(t.rows)-1], at, next)
		days, _ := strconv.Atoi(next.props["days-valid"])
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", r.seed, next.id, next.name()))
		next.props["fingerprint"], next.props["private-key"] = hex.EncodeToString(sum[:]), "true"
		next.props["invalid-after"] = r.now().AddDate(0, 0, days).Format("2006-01-02 15:04:05")
		if next.props["ca"] = ca; ca == "" {
			delete(next.props, "ca")
			next.props["authority"] = "true"
		}
	}
	return reply{}, nil
}

// usableCertificate accepts "none" or the name of a certificate that is signed.
func usableCertificate(r *Router, prop, value string) (string, *Trap) {
	stored, trap := existing("certificate", "none")(r, prop, value)
	if w := r.byName("certificate", stored); trap != nil || w != nil && !issued(w) {
		return "", mismatch(prop)
	}
	return stored, nil
}
