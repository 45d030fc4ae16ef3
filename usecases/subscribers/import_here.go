package subscriberscases

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/loginname"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// hereAlready compares the rows of a file with the customers whom the organization has. Not safe for concurrent use.
type hereAlready struct {
	u      Imports
	org    id.Organization
	of     id.Import
	made   func() map[id.Subscriber]bool // whom the import makes, or has made when it began before
	rows   func() map[string]bool        // the keys of the file's rows
	asked  map[string]bool               // phones whose customers are in people
	people map[personKey]*namesakes
}

// namesakes are the customers with one phone and name, but for those whom the import itself has made.
type namesakes struct {
	somebody bool // one of them, whom no row of the file has made
	// rows are the keys of rows of the file that have made the others, in an import of before, and whether these have a
	// service.
	rows map[string]bool
	// waiting are those whom an import of before has made without their service, and no row of the file completes yet.
	waiting []subscribersviews.PhoneRow
}

// hereAlready compares a file with the customers of an organization, but for those whom its own import has made.
func (u Imports) hereAlready(org id.Organization, of id.Import, file []byte, reader rowReader) *hereAlready {
	return &hereAlready{
		u: u, org: org, of: of, asked: map[string]bool{}, people: map[personKey]*namesakes{},
		made: sync.OnceValue(func() map[id.Subscriber]bool { return importedBy(of, file, reader.encoding) }),
		rows: sync.OnceValue(func() map[string]bool { return keysOf(file, reader, u.rowKeys(org)) }),
	}
}

// rowKeys gives the rows of a file their keys.
func (u Imports) rowKeys(org id.Organization) rowKeys {
	return rowKeys{key: u.Key, org: org, alike: map[uuid.UUID]int{}}
}

// eachRow goes through the rows of a file, also those that cannot be read.
func eachRow(file []byte, encoding sheet.Encoding, do func(cells []string, row int, err error)) {
	table, err := sheet.OpenIn(file, encoding)
	if err != nil {
		return
	}
	for {
		cells, row, err := table.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		do(cells, row, err)
	}
}

// importedBy are the customers whom the rows of a file make.
func importedBy(of id.Import, file []byte, encoding sheet.Encoding) map[id.Subscriber]bool {
	made := map[id.Subscriber]bool{}
	eachRow(file, encoding, func(_ []string, row int, _ error) { made[importedAs(of, row)] = true })
	return made
}

// keysOf are the keys of the rows of a file that have no fault by themselves.
func keysOf(file []byte, reader rowReader, keys rowKeys) map[string]bool {
	all := map[string]bool{}
	eachRow(file, reader.encoding, func(cells []string, row int, err error) {
		if err != nil || reader.attached(cells, row) {
			return
		}
		if read, faults, err := reader.known(cells, row, keys); err == nil && len(faults) == 0 {
			all[read.Key] = true
		}
	})
	return all
}

// personKey tells customers apart who have nothing else that only one may have.
type personKey struct{ phone, name string }

// personOfRow is the customer whom a row is about.
func personOfRow(row importRow) personKey {
	d := row.details()
	return personKey{d.Phone.Reveal(), loosely(d.FirstName.Reveal() + d.LastName.Reveal())}
}

// found tells which part of a row the organization has.
type found struct {
	here   bool           // its customer
	faults failure.Faults // values of it that another customer has
	// completes is its customer when an import has made no more; null = all of the row is here, or nothing.
	completes id.Subscriber
}

// find compares the rows of a block.
func (h *hereAlready) find(ctx context.Context, rows []importRow) ([]found, error) {
	taken, err := h.u.Taken(ctx, h.org, valuesOf(rows))
	if err != nil {
		return nil, err
	}
	if err := h.learn(ctx, rows); err != nil {
		return nil, err
	}
	list := make([]found, len(rows))
	for i, row := range rows {
		list[i] = foundAmong(taken, row, importedAs(h.of, row.Row))
		if list[i].here || len(list[i].faults) > 0 {
			continue
		}
		list[i].completes = h.unserved(row)
		list[i].here = list[i].completes.IsZero() && len(uniqueOf(row)) == 0 && h.known(row)
	}
	return list, nil
}

// learn reads the customers who have the phones of those rows that are known by phone and name alone, or that may
// complete one.
func (h *hereAlready) learn(ctx context.Context, rows []importRow) error {
	var phones []string
	for _, row := range rows {
		phone := row.details().Phone.Reveal()
		if (len(uniqueOf(row)) == 0 || !row.Plan.IsZero()) && !h.asked[phone] {
			h.asked[phone] = true
			phones = append(phones, phone)
		}
	}
	if len(phones) == 0 {
		return nil
	}
	customers, err := h.u.ByPhones(ctx, h.org, phones)
	if err != nil {
		return err
	}
	var imported []id.Subscriber
	for _, c := range customers {
		if c.ImportRow != "" {
			imported = append(imported, c.SubscriberID)
		}
	}
	var served map[id.Subscriber]bool
	if len(imported) > 0 {
		if served, err = h.u.Served(ctx, h.org, imported); err != nil {
			return err
		}
	}
	for _, c := range customers {
		h.add(c, served[c.SubscriberID])
	}
	return nil
}

// add notes a customer.
func (h *hereAlready) add(c subscribersviews.PhoneRow, served bool) {
	if h.made()[c.SubscriberID] {
		return
	}
	person := personKey{c.Phone, loosely(c.FirstName + c.LastName)}
	same := h.people[person]
	if same == nil {
		same = &namesakes{rows: map[string]bool{}}
		h.people[person] = same
	}
	if c.ImportRow != "" && h.rows()[c.ImportRow] {
		same.rows[c.ImportRow] = served
	} else {
		same.somebody = true
	}
	if c.ImportRow != "" && !served {
		same.waiting = append(same.waiting, c)
	}
}

// unserved takes the customer whose service a row brings: somebody with its phone and name, whom an import has made
// without a service. The one of the row itself comes before those of rows that the file does not have; null = none.
func (h *hereAlready) unserved(row importRow) id.Subscriber {
	same := h.people[personOfRow(row)]
	if same == nil || row.Plan.IsZero() || same.rows[row.Key] {
		return id.Subscriber{}
	}
	own := func(c subscribersviews.PhoneRow) bool { return c.ImportRow == row.Key }
	lost := func(c subscribersviews.PhoneRow) bool { return !h.rows()[c.ImportRow] }
	for _, fits := range []func(subscribersviews.PhoneRow) bool{own, lost} {
		if i := slices.IndexFunc(same.waiting, fits); i >= 0 {
			who := same.waiting[i].SubscriberID
			same.waiting = slices.Delete(same.waiting, i, i+1)
			return who
		}
	}
	return id.Subscriber{}
}

// known reports whether the organization has the customer of a row that is known by phone and name alone. One whom
// another row of the file has made, in an import of before, is not this one's.
func (h *hereAlready) known(row importRow) bool {
	same := h.people[personOfRow(row)]
	if same == nil {
		return false
	}
	_, made := same.rows[row.Key]
	return same.somebody || made
}

// foundAmong compares a row with the values that customers have. Those of the row's own customer do not count, and a
// customer with its phone is the one whom it is about.
func foundAmong(taken map[string]subscribersviews.TakenRow, row importRow, own id.Subscriber) found {
	var out found
	phone := row.details().Phone.Reveal()
	for _, v := range uniqueOf(row) {
		switch owner, is := taken[v.key()]; {
		case !is || owner.SubscriberID == own:
		case owner.Phone == phone:
			out.here = true
		default:
			out.faults.Add(v.field, "belongs to another customer already")
		}
	}
	return out
}

// unique is a value that only one customer of the organization may have.
type unique struct{ field, value string }

// key tells values of different columns apart.
func (v unique) key() string { return v.field + "=" + v.value }

// uniqueOf lists the values of a row that only one customer may have, each once and in the form in which they are kept.
func uniqueOf(row importRow) []unique {
	var list []unique
	if row.Username != "" {
		list = append(list, unique{colUsername, loginname.Fold(row.Username)})
	}
	addresses := row.addresses()
	if ip := addresses.StaticIP.Reveal(); ip != "" {
		list = append(list, unique{colStaticIP, ip})
	}
	for _, mac := range personal.RevealAll(addresses.MACAddresses) {
		list = append(list, unique{colMACs, mac})
	}
	for _, alias := range personal.RevealAll(row.details().AccountAliases) {
		list = append(list, unique{colAliases, alias})
	}
	return list
}

// valuesOf asks for what somebody of the organization may have already.
func valuesOf(rows []importRow) subscribersviews.TakenValues {
	var v subscribersviews.TakenValues
	for _, row := range rows {
		for _, u := range uniqueOf(row) {
			switch u.field {
			case colUsername:
				v.Usernames = append(v.Usernames, u.value)
			case colStaticIP:
				v.StaticIPs = append(v.StaticIPs, u.value)
			case colMACs:
				v.MACs = append(v.MACs, u.value)
			case colAliases:
				v.Aliases = append(v.Aliases, u.value)
			}
		}
	}
	return v
}
