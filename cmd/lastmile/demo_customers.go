package main

// demoPlan is one plan of the demo ISP. Prices are in whole shillings, rates in kbit/s.
type demoPlan struct {
	code, name, kind, mode, period string
	price, down, up                int
	capGB                          int // a month; afterwards the speed is a tenth; 0 = no cap
}

// demoPlans has prepaid plans by the month, the week and the day, and a postpaid one.
var demoPlans = []demoPlan{
	{
		code: "home-10", name: "Home 10 Mbps", kind: "pppoe", mode: "prepaid", period: "month", price: 1500,
		down: 10_000, up: 5_000,
	},
	{
		code: "home-20", name: "Home 20 Mbps", kind: "pppoe", mode: "prepaid", period: "month", price: 2500,
		down: 20_000, up: 10_000,
	},
	{
		code: "lite-5", name: "Lite 5 Mbps", kind: "pppoe", mode: "prepaid", period: "month", price: 900,
		down: 5_000, up: 2_000, capGB: 60,
	},
	{
		code: "day-pass", name: "Day pass", kind: "hotspot", mode: "prepaid", period: "day", price: 50, down: 5_000,
		up: 2_000,
	},
	{
		code: "week-pass", name: "Week pass", kind: "hotspot", mode: "prepaid", period: "week", price: 250, down: 5_000,
		up: 2_000,
	},
	{
		code: "business-50", name: "Business 50 Mbps", kind: "pppoe", mode: "postpaid", period: "month", price: 9000,
		down: 50_000, up: 50_000,
	},
}

// planOf gives a plan by its code; the zero value for a code that no plan has.
func planOf(code string) demoPlan {
	for _, p := range demoPlans {
		if p.code == code {
			return p
		}
	}
	return demoPlan{}
}

// demoCustomer is one subscriber with a subscription. The tag is the part of the town, which has a router.
type demoCustomer struct {
	first, last, tag, plan string
	// story is played on the day of the sign-up, which is the present day in a demo without a year.
	story []demoAct
	since int       // days before the present on which the customer came; 0 = today, with the story
	pays  demoHabit // how a customer with a past pays
	quits int       // days before the present after which nothing is paid any more; 0 = goes on to pay
}

// demoHabit is how a customer pays each period. The zero value never pays.
type demoHabit struct {
	by      demoAct
	late    int // days after the end of the paid time; negative = before it
	wanders int // up to so many days later than that, another number each time
}

// month is the length of a month in days, about.
const month = 30

// always pays at the same day of each month, two days before the paid time is over.
func always(by demoAct) demoHabit { return demoHabit{by: by, late: -2} }

// mostly pays in time, but sometimes a few days later, in the grace or just after it.
func mostly(by demoAct) demoHabit { return demoHabit{by: by, late: -2, wanders: 6} }

// late pays only when the access was cut: days after the end of the paid time.
func late(days int, by demoAct) demoHabit { return demoHabit{by: by, late: days, wanders: 4} }

// presentCustomers has a customer in each state that the walks of README need at the present.
var presentCustomers = []demoCustomer{
	{
		first: "Acacia", last: "House", tag: "north", plan: "home-10", story: []demoAct{paysByPrompt},
		since: 11*month + 10, pays: always(paysByPrompt),
	},
	{
		first: "Baobab", last: "Court", tag: "north", plan: "home-20", story: []demoAct{paysByPrompt},
		since: 3 * month, pays: always(paysByPrompt),
	},
	{
		first: "Cedar", last: "Flats", tag: "north", plan: "home-10", story: []demoAct{paysByPaybill},
		since: 2*month + 11, pays: always(paysByPaybill),
	},
	// the second payment is credit for the next month
	{first: "Dovu", last: "Villa", tag: "south", plan: "home-20", story: []demoAct{paysByPaybill, paysByPaybill}},
	{first: "Ebony", last: "Kiosk", tag: "market", plan: "day-pass", story: []demoAct{paysByPrompt}},
	{ // postpaid: served now, pays by the end of the month
		first: "Fig", last: "Cafe", tag: "market", plan: "business-50",
		since: 3 * month, pays: demoHabit{by: paysByPaybill, late: 1},
	},
	{
		first: "Grevillea", last: "Clinic", tag: "market", plan: "business-50", story: []demoAct{paysByPrompt},
		since: 3*month + 9, pays: demoHabit{by: paysByPrompt, late: -3},
	},
	{first: "Hibiscus", last: "House", tag: "south", plan: "home-10"}, // never paid: pending
	// pressed cancel on the phone
	{first: "Ironwood", last: "House", tag: "south", plan: "home-10", story: []demoAct{cancelsPrompt}},
	// a part of the invoice is paid, and the period has not begun
	{first: "Jacaranda", last: "House", tag: "north", plan: "home-20", story: []demoAct{paysPart}},
	{ // paused while away
		first: "Kapok", last: "Lodge", tag: "north", plan: "home-10", story: []demoAct{paysByPrompt, rest},
		since: 3 * month, pays: mostly(paysByPrompt),
	},
	{
		first: "Lantana", last: "Shop", tag: "market", plan: "home-10", story: []demoAct{paysByPrompt, isBlocked},
		since: 3*month + 5, pays: mostly(paysByCash),
	},
}

// pastCustomers are those that only a demo with a year has.
var pastCustomers = []demoCustomer{
	{first: "Mango", last: "House", tag: "north", plan: "home-10", since: 200, pays: mostly(paysByPaybill)},
	{first: "Neem", last: "Duka", tag: "north", plan: "home-20", since: 315, pays: mostly(paysByPaybill)},
	{first: "Olive", last: "Villa", tag: "north", plan: "home-20", since: 100, pays: late(5, paysByPrompt)},
	{first: "Papaya", last: "House", tag: "north", plan: "lite-5", since: 116, pays: mostly(paysByCash)},
	{first: "Mvule", last: "Hardware", tag: "market", plan: "business-50", since: 95, pays: mostly(paysByPaybill)},
	{first: "Quince", last: "House", tag: "north", plan: "home-10", since: 345, pays: mostly(paysByCash)},
	{first: "Rosewood", last: "Flats", tag: "north", plan: "home-10", since: 96, pays: late(4, paysByPaybill)},
	{first: "Sandalwood", last: "Salon", tag: "market", plan: "home-10", since: 66, pays: mostly(paysByPrompt)},
	{first: "Tamarind", last: "House", tag: "north", plan: "lite-5", since: 92, pays: mostly(paysByPaybill)},
	{first: "Mkungu", last: "Grocers", tag: "market", plan: "home-20", since: 70, pays: mostly(paysByCash)},
	{first: "Umbrella", last: "Thorn House", tag: "north", plan: "home-10", since: 68, pays: mostly(paysByPaybill)},
	{first: "Violet", last: "Nursery", tag: "south", plan: "home-10", since: 65, pays: mostly(paysByPrompt)},
	{first: "Wattle", last: "House", tag: "south", plan: "home-20", since: 102, pays: mostly(paysByCash)},
	{first: "Yucca", last: "Bakery", tag: "south", plan: "home-20", since: 64, pays: mostly(paysByPaybill)},
	{first: "Zambarau", last: "House", tag: "south", plan: "lite-5", since: 63, pays: late(6, paysByPrompt)},
	{first: "Aloe", last: "Pharmacy", tag: "south", plan: "home-10", since: 60, pays: mostly(paysByPaybill)},
	{first: "Bamboo", last: "House", tag: "south", plan: "home-10", since: 80, pays: mostly(paysByCash)},
	{first: "Coconut", last: "Guest House", tag: "south", plan: "home-20", since: 78, pays: mostly(paysByPrompt)},
	{first: "Mwarobaini", last: "Clinic", tag: "south", plan: "business-50", since: 75, pays: mostly(paysByPaybill)},
	{first: "Date", last: "Palm House", tag: "south", plan: "home-10", since: 74, pays: mostly(paysByPaybill)},
	{first: "Eucalyptus", last: "Timber", tag: "east", plan: "home-20", since: 70, pays: mostly(paysByCash)},
	{first: "Fern", last: "House", tag: "east", plan: "home-10", since: 68, pays: mostly(paysByCash)},
	{first: "Ginger", last: "Kitchen", tag: "east", plan: "home-10", since: 66, pays: late(4, paysByPrompt)},
	{first: "Hoodia", last: "House", tag: "east", plan: "lite-5", since: 63, pays: mostly(paysByPrompt)},
	{first: "Iris", last: "Tailors", tag: "east", plan: "home-10", since: 60, pays: mostly(paysByPaybill)},
	{first: "Juniper", last: "House", tag: "east", plan: "home-10", since: 57, pays: mostly(paysByPaybill)},
	{first: "Kei", last: "Apple House", tag: "east", plan: "home-20", since: 54, pays: mostly(paysByCash)},
	{first: "Lemon", last: "Cyber", tag: "east", plan: "home-20", since: 51, pays: mostly(paysByPrompt)},
	{first: "Mihogo", last: "Hotel", tag: "market", plan: "week-pass", since: 33, pays: late(2, paysByPrompt)},
	{first: "Nandi", last: "Flame House", tag: "east", plan: "home-10", since: 48, pays: mostly(paysByPaybill)},
	{first: "Orchid", last: "Florist", tag: "market", plan: "week-pass", since: 30, pays: late(1, paysByPrompt)},
	{first: "Podo", last: "House", tag: "east", plan: "home-10", since: 46, pays: mostly(paysByCash)},
	{first: "Raffia", last: "Weavers", tag: "east", plan: "lite-5", since: 43, pays: mostly(paysByCash)},
	{first: "Sisal", last: "House", tag: "north", plan: "home-10", since: 40, pays: mostly(paysByPrompt)},
	{first: "Teak", last: "Furniture", tag: "north", plan: "home-20", since: 37, pays: mostly(paysByPaybill)},
	// Who does not pay any more: reminded, walled in, suspended, and one whose debt is old.
	{
		first: "Mbuyu", last: "House", tag: "north", plan: "home-10", since: 120, quits: 34,
		pays: always(paysByPrompt),
	},
	{
		first: "Mkaratusi", last: "Shop", tag: "north", plan: "home-20", since: 50, quits: 10,
		pays: always(paysByPrompt),
	},
	{
		first: "Mnazi", last: "Bar", tag: "south", plan: "home-10", since: 66, quits: 40,
		pays: always(paysByCash),
	},
	{
		first: "Msonobari", last: "House", tag: "east", plan: "home-10", since: 4*month + 14, quits: 50,
		pays: always(paysByPrompt),
	},
	{
		first: "Mpera", last: "House", tag: "east", plan: "lite-5", since: 5 * month, quits: 100,
		pays: always(paysByPaybill),
	},
}
