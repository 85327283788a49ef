// From top to bottom: what is seen first is made first.

// The link of the part that is being looked at stands out in the bar. Where not all links have room, a button leads to
// the others.
function startBar() {
  const bar = document.querySelector(".bar nav"), more = byId("parts-more");
  const left = () => bar.scrollWidth - bar.clientWidth - bar.scrollLeft;
  const showMore = () => { const isMore = left() > 4; bar.classList.toggle("has-more", isMore); more.hidden = !isMore; };
  bar.addEventListener("scroll", showMore, { passive: true });
  addEventListener("resize", afterTyping(showMore));
  more.addEventListener("click", () => bar.scrollBy({ left: 0.7 * bar.clientWidth, behavior: "smooth" }));
  showMore();
  const links = new Map([...document.querySelectorAll(".bar nav a")].map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const link = links.get(entry.target.id);
      link.toggleAttribute("aria-current", entry.isIntersecting);
      if (entry.isIntersecting) bar.scrollTo({ left: link.offsetLeft - bar.offsetLeft - bar.clientWidth / 3 });
    }
  }, { rootMargin: "-15% 0px -80% 0px" });
  for (const id of links.keys()) watch.observe(byId(id));
}

// Not every browser lets a page that is opened as a file write to the clipboard; the text can be selected anyway.
function startMethods() {
  const button = byId("copy-methods");
  if (!navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const paragraphs = [...document.querySelectorAll("#methods p, #citation p")].map((one) => one.textContent);
    try {
      await navigator.clipboard.writeText(paragraphs.join("\n\n"));
      byId("copied").textContent = "Copied, with the references";
    } catch {
      byId("copied").textContent = "The browser does not allow it: select the text instead";
    }
  });
}

startTheme();
startBar();
startMethods();
startTable();
startAnswer();
startMap();
startPeek();
startTopic();
startGroups();
startDocuments();
selected.push(showChosen);
renamed.push(showChosen);
select(topicInAddress() ?? 0);
// To the topic that a link names; again when charts above it have got their height, unless the reader has moved on.
const linked = topicInAddress() !== null;
let moved = false;
for (const act of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(act, () => { moved = true; }, { once: true, passive: true });
const toLinked = () => { if (linked && !moved) byId("topic").scrollIntoView({ behavior: "instant" }); };
toLinked();
addEventListener("hashchange", followAddress);
startFamily();
startRuns();
Promise.all(views.values()).then(() => { toLinked(); document.documentElement.dataset.drawn = "yes"; });
