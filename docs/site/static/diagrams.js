// Draw the diagrams of a page, each once it comes into view. The text stays for whoever has no scripts.
mermaid.initialize({ startOnLoad: false, securityLevel: "strict" });

function draw(block) {
  const drawn = document.createElement("pre");
  drawn.className = "diagram";
  drawn.textContent = block.textContent;
  block.replaceWith(drawn);
  mermaid.run({ nodes: [drawn] });
}

const watched = new IntersectionObserver(
  (found) => {
    for (const { isIntersecting, target } of found) {
      if (isIntersecting) {
        watched.unobserve(target);
        draw(target);
      }
    }
  },
  { rootMargin: "400px" },
);
document.querySelectorAll(".highlight-mermaid").forEach((block) => watched.observe(block));
