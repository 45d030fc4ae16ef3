(function () {
  "use strict";
  var box = document.getElementById("q");
  var rows = Array.prototype.slice.call(document.querySelectorAll("details[id]"));
  var groups = Array.prototype.slice.call(document.querySelectorAll("section[id]"));
  function open() {
    var at = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (at && at.tagName === "DETAILS") { at.open = true; at.scrollIntoView(); }
  }
  function narrow() {
    var words = box.value.toLowerCase().split(/\s+/);
    rows.forEach(function (row) {
      var text = row.firstElementChild.textContent.toLowerCase() + " " + row.id.toLowerCase();
      row.hidden = words.some(function (word) { return text.indexOf(word) < 0; });
    });
    groups.forEach(function (group) { group.hidden = !group.querySelector("details:not([hidden])"); });
  }
  if (box && rows.length) { box.addEventListener("input", narrow); }
  document.addEventListener("keydown", function (e) {
    if (e.key === "/" && box && document.activeElement !== box) { e.preventDefault(); box.focus(); }
  });
  if (navigator.clipboard) {
    document.querySelectorAll("pre.curl").forEach(function (pre) {
      var text = pre.textContent, button = document.createElement("button");
      button.type = "button"; button.className = "copy"; button.textContent = "Copy";
      button.addEventListener("click", function () {
        navigator.clipboard.writeText(text).then(function () { button.textContent = "Copied"; });
      });
      pre.insertBefore(button, pre.firstChild);
    });
  }
  window.addEventListener("hashchange", open);
  open();
})();
