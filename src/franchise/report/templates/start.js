// From top to bottom: what is seen first is made first.

// The link of the part that is being looked at stands out in the bar.
function startBar() {
  const links = new Map([...document.querySelectorAll(".bar nav a")].map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) links.get(entry.target.id).toggleAttribute("aria-current", entry.isIntersecting);
  }, { rootMargin: "-15% 0px -80% 0px" });
  for (const id of links.keys()) watch.observe(byId(id));
}

startTheme();
startBar();
startTable();
startAnswer();
startMap();
startTopic();
startDocuments();
selected.push(showChosen);
renamed.push(showChosen);
const asked = /^#topic-(\d+)$/.exec(location.hash);
select(asked ? Number(asked[1]) : 0);
if (asked) byId("topic").scrollIntoView();
startFamily();
startRuns();
Promise.all(views.values()).then(() => { document.documentElement.dataset.drawn = "yes"; });
